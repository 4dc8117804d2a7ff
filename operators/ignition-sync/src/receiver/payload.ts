import type { REQUEST_SOURCES } from '../api/names.ts';

/** PayloadSource is the kind of system that sent a payload. */
export type PayloadSource = (typeof REQUEST_SOURCES)[number];

/** RefPayload requests that a ref is synced: a release, a tag, or the request of a deployment tool. */
export interface RefPayload {
  readonly kind: 'ref';
  readonly source: PayloadSource;
  /** A short name, or a commit. */
  readonly ref: string;
  /** Whether the payload called it a branch. Otherwise it is a tag, or unknown. */
  readonly isBranch: boolean;
}

/** BranchHead is a branch and its new commit. */
export interface BranchHead {
  readonly branch: string;
  readonly commit: string;
}

/** PushPayload reports that branches have new commits. */
export interface PushPayload {
  readonly kind: 'push';
  readonly source: PayloadSource;
  /** At least one. */
  readonly heads: readonly BranchHead[];
}

/** IgnoredPayload is valid, and requests nothing. */
export interface IgnoredPayload {
  readonly kind: 'ignored';
  readonly source: PayloadSource;
  readonly message: string;
}

/** InvalidPayload contains no ref, or one that cannot be used. */
export interface InvalidPayload {
  readonly kind: 'invalid';
  /** Undefined: the payload has none of the known shapes. */
  readonly source: PayloadSource | undefined;
  readonly message: string;
}

/** Payload is what the body of a webhook means. */
export type Payload = RefPayload | PushPayload | IgnoredPayload | InvalidPayload;

/** NO_REF is the message for a payload without a ref. Callers see it. */
export const NO_REF = 'no ref found in payload';

/** ignored returns a payload that requests nothing. */
export function ignored(source: PayloadSource, message: string): IgnoredPayload {
  return { kind: 'ignored', source, message };
}

/** invalid returns a payload that cannot be used. */
export function invalid(source: PayloadSource | undefined, message: string): InvalidPayload {
  return { kind: 'invalid', source, message };
}
