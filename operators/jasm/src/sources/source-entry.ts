import type { ExternalSecret, SecretRef } from '../providers/provider.ts';
import type { ProviderError } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import type { Source } from './source.ts';

/** SourceAnswer is the secret, or that it still is the known version. */
export type SourceAnswer =
  | { readonly unchanged: true; readonly version: string }
  | { readonly unchanged: false; readonly secret: ExternalSecret };

/** Waiter is somebody who wants to know the state of a source at an instant or later. */
export interface Waiter {
  readonly since: number;
  /** The version that it has; undefined when that does not matter. */
  readonly known: string | undefined;
  readonly together: readonly Source[];
  /** Whether it is known that only the value helps. */
  needsValue: boolean;
  readonly resolve: (answer: SourceAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** SourceCall is a call to a store, with its retries, for the waiters of one source or of several. */
export interface SourceCall {
  readonly entries: readonly SourceEntry[];
  readonly stop: AbortController;
  /** The instant at which its present attempt started: that is what its answer is worth. */
  startedAt: number;
  readonly ended: Promise<void>;
}

/** SourceEntry is what is known of a source. Without waiters and without a call it is only a version, and may be forgotten. */
export interface SourceEntry {
  readonly key: string;
  readonly kind: ConfiguredKind;
  readonly ref: SecretRef;
  readonly waiters: Set<Waiter>;
  /** Whether somebody makes calls until nobody waits. */
  isServed: boolean;
  /** The call under way. */
  call?: SourceCall | undefined;
  /** The version that the store had at an instant. */
  seen?: { readonly startedAt: number; readonly version: string } | undefined;
  /** The last error that only somebody can mend: of asking for a version, and of reading the value. A later success ends it. */
  readonly failed: { version?: FailedCall | undefined; value?: FailedCall | undefined };
}

/** FailedCall is a call that ended with an error. */
interface FailedCall {
  readonly startedAt: number;
  readonly error: ProviderError;
}

/** rememberError keeps an error that lasts: whose reason is older, and who comes late, need not ask again to hear it. */
export function rememberError({ failed }: SourceEntry, of: 'version' | 'value', call: FailedCall): void {
  if (call.error.kind !== 'transient') failed[of] = call;
}

/** takeVersion gives the version to whom it tells enough, and answers to how many. Undefined: the store does not tell. */
export function takeVersion(
  entry: SourceEntry,
  startedAt: number,
  version: string | undefined,
  kept: ExternalSecret | undefined,
): number {
  if (version !== undefined) {
    entry.seen = { startedAt, version };
    entry.failed.version = undefined;
  }
  return settle(entry, startedAt, (waiter) => {
    if (version !== undefined && waiter.known === version) return { unchanged: true, version };
    if (version !== undefined && kept?.version === version) return { unchanged: false, secret: kept };
    waiter.needsValue = true;
    return undefined;
  });
}

/** takeSecret gives the secret to all that it may serve, and answers to how many. */
export function takeSecret(entry: SourceEntry, startedAt: number, secret: ExternalSecret): number {
  entry.seen = secret.version === undefined ? undefined : { startedAt, version: secret.version };
  entry.failed.version = undefined;
  entry.failed.value = undefined;
  return settle(entry, startedAt, ({ known }) => answerFor(secret, known));
}

/** takeError gives the error to all for whom the call was made. */
export function takeError(entry: SourceEntry, startedAt: number, error: unknown): void {
  for (const waiter of entry.waiters) if (waiter.since <= startedAt) waiter.reject(error);
}

/** answerFor is what a secret means to somebody who has a version of it. */
export function answerFor(secret: ExternalSecret, known: string | undefined): SourceAnswer {
  return known !== undefined && secret.version === known
    ? { unchanged: true, version: known }
    : { unchanged: false, secret };
}

function settle(
  { waiters }: SourceEntry,
  startedAt: number,
  answerTo: (waiter: Waiter) => SourceAnswer | undefined,
): number {
  let settled = 0;
  for (const waiter of waiters) {
    if (waiter.since > startedAt) continue;
    const answer = answerTo(waiter);
    if (!answer) continue;
    waiter.resolve(answer);
    settled++;
  }
  return settled;
}
