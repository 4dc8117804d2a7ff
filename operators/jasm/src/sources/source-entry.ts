import type { ExternalSecret, SecretRef } from '../providers/provider.ts';
import type { ProviderError } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import type { Source } from './source.ts';

/** ReadResult is the secret, or that its version is unchanged. */
export type ReadResult =
  | { readonly unchanged: true; readonly version: string }
  | { readonly unchanged: false; readonly secret: ExternalSecret };

/** Waiter is a caller that needs the state of a source at an instant or later. */
export interface Waiter {
  readonly since: number;
  /** The version that it has; undefined if that does not matter. */
  readonly known: string | undefined;
  readonly batchWith: readonly Source[];
  /** Whether only the value can answer it. */
  needsValue: boolean;
  readonly resolve: (result: ReadResult) => void;
  readonly reject: (error: unknown) => void;
}

/** SourceCall is a call to a store, including its retries, for the waiters of one source or several. */
export interface SourceCall {
  readonly entries: readonly SourceEntry[];
  readonly stop: AbortController;
  /** The instant at which its current attempt started: its answer is as recent as that. */
  startedAt: number;
  readonly ended: Promise<void>;
}

/**
 * SourceEntry holds what is known about a source. Without waiters and without a call it is only a version, and may be
 * dropped.
 */
export interface SourceEntry {
  readonly key: string;
  readonly kind: ConfiguredKind;
  readonly ref: SecretRef;
  readonly waiters: Set<Waiter>;
  /** Whether a loop makes calls until no caller waits. */
  isServed: boolean;
  /** The call in progress. */
  call?: SourceCall | undefined;
  /** The version that the store had at an instant. */
  lastVersion?: { readonly startedAt: number; readonly version: string } | undefined;
  /** The last permanent error of requesting a version, and of reading the value. A later success clears it. */
  readonly failed: { version?: FailedCall | undefined; value?: FailedCall | undefined };
}

/** FailedCall is a call that ended with an error. */
interface FailedCall {
  readonly startedAt: number;
  readonly error: ProviderError;
}

/**
 * rememberError keeps a permanent error: callers with an older reason and late callers receive it without another call.
 */
export function rememberError({ failed }: SourceEntry, of: 'version' | 'value', call: FailedCall): void {
  if (call.error.kind !== 'transient') failed[of] = call;
}

/**
 * deliverVersion passes the version to the waiters for which it is enough, and returns their number. Undefined if the
 * store returns no version.
 */
export function deliverVersion(
  entry: SourceEntry,
  startedAt: number,
  version: string | undefined,
  kept: ExternalSecret | undefined,
): number {
  if (version !== undefined) {
    entry.lastVersion = { startedAt, version };
    entry.failed.version = undefined;
  }
  return settle(entry, startedAt, (waiter) => {
    if (version !== undefined && waiter.known === version) return { unchanged: true, version };
    if (version !== undefined && kept?.version === version) return { unchanged: false, secret: kept };
    waiter.needsValue = true;
    return undefined;
  });
}

/** deliverSecret passes the secret to all waiters that it may serve, and returns their number. */
export function deliverSecret(entry: SourceEntry, startedAt: number, secret: ExternalSecret): number {
  entry.lastVersion = secret.version === undefined ? undefined : { startedAt, version: secret.version };
  entry.failed.version = undefined;
  entry.failed.value = undefined;
  return settle(entry, startedAt, ({ known }) => resultFor(secret, known));
}

/** deliverError passes the error to all waiters that the call was made for. */
export function deliverError(entry: SourceEntry, startedAt: number, error: unknown): void {
  for (const waiter of entry.waiters) if (waiter.since <= startedAt) waiter.reject(error);
}

/** resultFor returns the answer to a caller that has a version of the secret. */
export function resultFor(secret: ExternalSecret, known: string | undefined): ReadResult {
  return known !== undefined && secret.version === known
    ? { unchanged: true, version: known }
    : { unchanged: false, secret };
}

function settle(
  { waiters }: SourceEntry,
  startedAt: number,
  resultOf: (waiter: Waiter) => ReadResult | undefined,
): number {
  let settled = 0;
  for (const waiter of waiters) {
    if (waiter.since > startedAt) continue;
    const result = resultOf(waiter);
    if (!result) continue;
    waiter.resolve(result);
    settled++;
  }
  return settled;
}
