import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration } from '@bowline/kubernetes';

/** isSelected reports whether a node matches a Pod's nodeSelector and required node affinity. */
export function isSelected(spec: Pod['spec'], node: Node): boolean {
  const labels = node.metadata?.labels ?? {};
  for (const [key, value] of Object.entries(spec?.nodeSelector ?? {})) {
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  }
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || terms.some((term) => isTermMet(term, node));
}

/** isTermMet reports whether a node matches a term. A term without requirements selects nothing. */
export function isTermMet({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const fields = { 'metadata.name': metadata?.name ?? '' };
  return (
    matchExpressions.every((requirement) => isMet(requirement, metadata?.labels ?? {})) &&
    matchFields.every((requirement) => isMet(requirement, fields))
  );
}

function isMet(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && /^-?\d+$/.test(value) && BigInt(value) > BigInt(values[0] ?? '0');
    case 'Lt':
      return value !== undefined && /^-?\d+$/.test(value) && BigInt(value) < BigInt(values[0] ?? '0');
    default:
      return false;
  }
}

/** isTolerated reports whether one of the tolerations tolerates a taint. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(({ key = '', operator = 'Equal', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (key !== '' && key !== taint.key) return false;
    if (operator === 'Exists') return true;
    return key !== '' && operator === 'Equal' && value === (taint.value ?? '');
  });
}

/** untolerated returns the first taint with one of these effects that a Pod does not tolerate. */
export function untolerated(
  tolerations: readonly Toleration[] | undefined,
  taints: readonly Taint[] | undefined,
  effects: readonly string[] = ['NoSchedule', 'NoExecute'],
): Taint | undefined {
  return taints?.find((taint) => effects.includes(taint.effect) && !isTolerated(taint, tolerations ?? []));
}
