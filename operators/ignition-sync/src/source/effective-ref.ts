import { CR_ANNOTATIONS } from '../api/names.ts';
import { isValidRef } from '../git/address/git-ref.ts';

/** HandledRequest is the request that took precedence over spec.git.ref, and what spec.git.ref was then. */
export interface HandledRequest {
  /** The annotation requested-at; empty if it is missing. */
  readonly at: string;
  readonly ref: string;
  readonly specRef: string;
}

/** EffectiveRef is the ref to sync. */
export interface EffectiveRef {
  readonly ref: string;
  /** The request that is in effect; undefined if spec.git.ref is. */
  readonly request: HandledRequest | undefined;
  /** The value of an annotation requested-ref that has ended and has to be removed. */
  readonly ended: string | undefined;
}

/**
 * effectiveRef returns the ref to sync: the requested one until spec.git.ref becomes equal, with or without a leading v, or
 * changes after the request. Nothing else records when spec.git.ref changed, so the status has its value at the request.
 */
export function effectiveRef(options: {
  readonly specRef: string;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly handled: HandledRequest | undefined;
}): EffectiveRef {
  const { specRef, annotations = {}, handled } = options;
  const ref = annotations[CR_ANNOTATIONS.requestedRef];
  const at = annotations[CR_ANNOTATIONS.requestedAt] ?? '';
  const ends = { ref: specRef, request: undefined, ended: ref };
  // Anybody who may edit the object may have written the annotation.
  if (ref === undefined || !isValidRef(ref)) return ends;
  const isKnown = handled?.ref === ref && handled.at === at;
  if (isSameRef(ref, specRef) || (isKnown && handled.specRef !== specRef)) return ends;
  return { ref, request: isKnown ? handled : { at, ref, specRef }, ended: undefined };
}

function isSameRef(a: string, b: string): boolean {
  return withoutPrefix(a) === withoutPrefix(b);
}

function withoutPrefix(ref: string): string {
  return ref.replace(/^v(?=\d)/, '');
}
