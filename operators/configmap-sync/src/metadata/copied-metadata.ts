import type { ObjectMeta } from '@bowline/kubernetes';
import { anyGlob, type FieldProblem, labelKeyProblems } from '@bowline/machinery';
import type { Spec } from '../api/config-map-sync.ts';
import { MANAGED_BY } from '../api/names.ts';

/** CopiedMetadata holds the labels and annotations that a copy gets besides our own. */
export interface CopiedMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * copiedMetadata returns the labels and annotations of the source that match the policy's globs (by default none), and
 * those that the policy adds. Added ones take precedence.
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
  // The schema refuses reserved names; objects that are older than the rule or bypassed it must not pose as our copies
  // either.
  const given = Object.entries(added).filter(([name]) => !isReserved(name));
  return Object.fromEntries([...copied, ...given]);
}

/** Reports whether a name is ours, or identifies the owner of an object. */
function isReserved(name: string): boolean {
  return /^(?:[^/]*\.)?bowline\.dev\//.test(name) || name === MANAGED_BY;
}

/**
 * Reports whether a name applies only to the source: with it, Argo CD would treat the copy as a part of the source's
 * application and prune it, and kubectl would treat it as applied by itself.
 */
function isNeverCopied(name: string): boolean {
  return (
    isReserved(name) ||
    name === 'app.kubernetes.io/instance' ||
    /^(?:argocd\.argoproj|kubectl\.kubernetes)\.io\//.test(name)
  );
}

/** The API server's limit for all annotations of an object, names included, and the part that is reserved for ours. */
const MAX_ANNOTATION_BYTES = 262_144;
const OWN_ANNOTATION_BYTES = 65_536;

/** metadataProblems returns the problems of a policy that its schema cannot express. */
export function metadataProblems(policy: Spec['metadata']): readonly FieldProblem[] {
  const names = (of: 'labels' | 'annotations'): FieldProblem[] =>
    Object.keys(policy?.[of] ?? {}).flatMap((name) =>
      // The API server, too, validates annotation names case-insensitively.
      labelKeyProblems(of === 'annotations' ? name.toLowerCase() : name).map((problem) => ({
        field: `spec.metadata.${of}`,
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(name)}: ${problem}`,
      })),
    );
  const maxBytes = MAX_ANNOTATION_BYTES - OWN_ANNOTATION_BYTES;
  let bytes = 0;
  for (const part of Object.entries(policy?.annotations ?? {}).flat()) bytes += Buffer.byteLength(part);
  const tooLong: FieldProblem = {
    field: 'spec.metadata.annotations',
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${maxBytes} bytes in total`,
  };
  return [...names('labels'), ...names('annotations'), ...(bytes > maxBytes ? [tooLong] : [])];
}
