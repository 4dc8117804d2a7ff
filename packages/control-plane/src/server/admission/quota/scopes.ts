import type { Pod, ResourceQuota } from '@bowline/kubernetes';
import { qosClassOf } from '../../registry/kinds/core/pod/qos-class.ts';
import type { PartialObject } from '../../registry/kinds/shared/partial-object.ts';

type PodSpec = NonNullable<Pod['spec']>;
type Spec = NonNullable<ResourceQuota['spec']>;

/** Scope is one condition on the Pods that a quota limits. */
interface Scope {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** scopesOf returns all conditions of a quota; empty for a quota without conditions. */
export function scopesOf({ scopes = [], scopeSelector }: Spec): readonly Scope[] {
  const plain = scopes.map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...plain, ...(scopeSelector?.matchExpressions ?? [])];
}

/** inScope reports whether a quota with these conditions limits an object. Conditions select only Pods. */
export function inScope(scopes: readonly Scope[], collection: string, object: object): boolean {
  if (scopes.length === 0) return true;
  const { spec } = object as Pod;
  return collection === 'pods' && spec !== undefined && scopes.every((scope) => isMet(scope, spec));
}

function isMet({ scopeName, operator, values = [] }: Scope, spec: PodSpec): boolean {
  switch (scopeName) {
    case 'Terminating':
      return isTerminating(spec);
    case 'NotTerminating':
      return !isTerminating(spec);
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'PriorityClass':
      return isSelected(spec.priorityClassName ?? '', operator, values);
    case 'CrossNamespacePodAffinity':
      return looksAcrossNamespaces(spec);
    default:
      return false;
  }
}

function isSelected(name: string, operator: string, values: readonly string[]): boolean {
  if (operator === 'Exists') return name !== '';
  if (operator === 'DoesNotExist') return name === '';
  return operator === 'In' ? values.includes(name) : !values.includes(name);
}

function isTerminating({ activeDeadlineSeconds }: PodSpec): boolean {
  return activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0;
}

function isBestEffort(spec: PodSpec): boolean {
  return qosClassOf(spec as PartialObject<PodSpec>) === 'BestEffort';
}

function looksAcrossNamespaces({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((each) => {
    const preferred = each?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const terms = [
      ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...preferred.map(({ podAffinityTerm }) => podAffinityTerm),
    ];
    return terms.some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector);
  });
}
