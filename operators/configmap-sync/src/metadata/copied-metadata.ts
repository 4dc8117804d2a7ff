import type { ObjectMeta } from '@bowline/kubernetes';
import { anyGlob, type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { Spec } from '../api/config-map-sync.ts';
import { MANAGED_BY } from '../api/names.ts';

/** CopiedMetadata are the labels and annotations that a copy gets besides our own. */
export interface CopiedMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * copiedMetadata is what a copy gets of its source's labels and annotations (those that the policy's globs name, by default
 * none), and what the policy adds. What is added wins.
 */
export function copiedMetadata(
  source: Pick<ObjectMeta, 'labels' | 'annotations'>,
  policy: Spec['metadata'],
): CopiedMetadata {
  return {
    labels: merged(source.labels, policy?.copyLabels, policy?.labels),
    annotations: merged(source.annotations, policy?.copyAnnotations, policy?.annotations),
  };
}

function merged(
  own: Readonly<Record<string, string>> = {},
  copy: readonly string[] = [],
  added: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const isCopied = anyGlob(copy);
  const copied = Object.entries(own).filter(([name]) => isCopied(name) && !isNeverCopied(name));
  // The schema refuses reserved names; objects from before a rule, or behind its back, must not pose as our copies either.
  const given = Object.entries(added).filter(([name]) => !isReserved(name));
  return Object.fromEntries([...copied, ...given]);
}

/** Whether a name is ours, or says whose an object is. */
function isReserved(name: string): boolean {
  return /^(?:[^/]*\.)?bowline\.dev\//.test(name) || name === MANAGED_BY;
}

/**
 * Whether a name says something about the source alone: with it, Argo CD would take the copy for a part of the source's
 * application and prune it, and kubectl for something that it applied.
 */
function isNeverCopied(name: string): boolean {
  return (
    isReserved(name) ||
    name === 'app.kubernetes.io/instance' ||
    /^(?:argocd\.argoproj|kubectl\.kubernetes)\.io\//.test(name)
  );
}

/** The API server's limit for all annotations of an object, names included, and what of it we leave to ourselves. */
const MOST_ANNOTATION_BYTES = 262_144;
const OWN_ANNOTATION_BYTES = 65_536;

/** metadataProblems is what is wrong with a policy that its schema cannot say. */
export function metadataProblems(policy: Spec['metadata']): readonly FieldProblem[] {
  const names = (of: 'labels' | 'annotations'): FieldProblem[] =>
    Object.keys(policy?.[of] ?? {}).flatMap((name) =>
      // The API server, too, compares annotations without regard to case.
      labelKeyProblems(of === 'annotations' ? name.toLowerCase() : name).map((problem) => ({
        field: `spec.metadata.${of}`,
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(name)}: ${problem}`,
      })),
    );
  const most = MOST_ANNOTATION_BYTES - OWN_ANNOTATION_BYTES;
  let bytes = 0;
  for (const part of Object.entries(policy?.annotations ?? {}).flat()) bytes += Buffer.byteLength(part);
  const tooLong: FieldProblem = {
    field: 'spec.metadata.annotations',
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${most} bytes in all`,
  };
  return [...names('labels'), ...names('annotations'), ...(bytes > most ? [tooLong] : [])];
}
