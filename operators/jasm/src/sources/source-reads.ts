import type { ExternalSecret, ProviderContext, SecretProvider } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';
import { withRetries } from './attempts.ts';
import { KeptValues } from './kept-values.ts';
import { attemptTimeout, locationOf, unexpectedError, unknownProvider } from './read-errors.ts';
import { type Source, siblingsKey, sourceKey } from './source.ts';
import {
  deliverError,
  deliverSecret,
  deliverVersion,
  type ReadResult,
  rememberError,
  resultFor,
  type SourceCall,
  type SourceEntry,
  type Waiter,
} from './source-entry.ts';

/** SourceMetrics receives the cost of reads. */
export interface SourceMetrics {
  /** observeCall counts one call to a store; `code` is `OK` or the code of the error. */
  observeCall(call: {
    readonly provider: string;
    readonly operation: string;
    readonly code: string;
    readonly ms: number;
  }): void;
  /** countCoalesced counts one read that was served by a call made for another read. */
  countCoalesced(provider: string): void;
}

/** SourceReadsOptions configures the providers and their context. */
export interface SourceReadsOptions {
  readonly kinds: ReadonlyMap<string, ConfiguredKind>;
  /** The context that providers are created with. Its signal ends every read. */
  readonly context: Omit<ProviderContext<unknown>, 'config' | 'observe'>;
  readonly metrics: SourceMetrics;
}

/** ReadReason describes why a source is read. */
export interface ReadReason {
  /**
   * The instant (`clock.monotonic()`) at which the reason arose: a pod was first observed, a sync was forced, a refresh
   * fell due. The answer of any call that started then or later serves it; no older one does.
   */
  readonly since: number;
  /** The version that is already in place: while the store still has it, no value is read. Defaults to none. */
  readonly known?: string | undefined;
  /** Whether to read the value even if the version is the known one. Defaults to false. */
  readonly force?: boolean | undefined;
  /**
   * Sources that will be read for the first time next: if the store supports it, one call reads them too. Defaults to
   * none.
   */
  readonly batchWith?: readonly Source[] | undefined;
}

const ATTEMPT_LIMIT_MS = 30_000;
/** Only their versions are kept; a cluster has far fewer sources. */
const MAX_SOURCES = 10_000;
/** Secrets Manager returns at most this many at once, and an annotation requests no more. */
const MAX_BATCH_SIZE = 20;
/** Values are kept this long for the Secrets that share them: the time to write a few thousand. */
const KEEP_VALUES_MS = 10_000;
const MAX_VALUES = 1_024;
const MAX_VALUE_BYTES = 8 * 2 ** 20;

/**
 * SourceReads reads from stores, and never reads the same state twice. Each source has at most one call in progress;
 * all callers whose reason is not newer than the call share its answer, and later callers share the next call. This is
 * not a cache: an answer never serves a reason that arose after its call had started.
 *
 * If a store returns versions, the version is requested first when every waiter has a version to compare it with.
 * Versions are remembered, and so are permanent errors; values are dropped some seconds after their call.
 */
export class SourceReads {
  readonly #options: SourceReadsOptions;
  /** The most recently requested come last. */
  readonly #entries = new Map<string, SourceEntry>();
  readonly #providers = new Map<string, Promise<SecretProvider>>();
  readonly #values: KeptValues;

  constructor(options: SourceReadsOptions) {
    this.#options = options;
    const { clock, signal } = options.context;
    this.#values = new KeptValues({ clock, keepMs: KEEP_VALUES_MS, maxValues: MAX_VALUES, maxBytes: MAX_VALUE_BYTES });
    signal.addEventListener('abort', () => this.#end(signal.reason), { once: true });
  }

  /**
   * read returns the source's state at `since` or later. It rejects with a ProviderError, or with a signal's reason.
   */
  async read(source: Source, reason: ReadReason, signal: AbortSignal): Promise<ReadResult> {
    signal.throwIfAborted();
    this.#options.context.signal.throwIfAborted();
    const entry = this.#entryOf(source);
    const known = this.#remembered(entry, reason);
    if (!known) return await this.#wait(entry, reason, signal);
    this.#options.metrics.countCoalesced(source.provider);
    if (known instanceof ProviderError) throw known;
    return known;
  }

  #entryOf({ provider, ref }: Source): SourceEntry {
    const kind = this.#options.kinds.get(provider);
    if (!kind) throw unknownProvider(provider, this.#options.kinds);
    const key = sourceKey(kind, ref);
    const known = this.#entries.get(key);
    const entry: SourceEntry = known ?? { key, kind, ref, waiters: new Set(), isServed: false, failed: {} };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > MAX_SOURCES) this.#forgetOldest();
    return entry;
  }

  #forgetOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.isServed || entry.call) continue;
      this.#entries.delete(key);
      return;
    }
  }

  /** Returns the answer of earlier calls, if they started late enough. */
  #remembered(entry: SourceEntry, reason: ReadReason): ReadResult | ProviderError | undefined {
    const { since, known, force = false } = reason;
    const recent = <T extends { readonly startedAt: number }>(call: T | undefined): T | undefined =>
      call && call.startedAt >= since ? call : undefined;
    const kept = this.#values.get(entry.key);
    const value = recent(kept);
    if (value) return resultFor(value.secret, force ? undefined : known);
    const hasVersion = known !== undefined && !force;
    const failed = { version: recent(entry.failed.version), value: recent(entry.failed.value) };
    if (hasVersion && failed.version) return failed.version.error;
    const lastVersion = force ? undefined : recent(entry.lastVersion);
    if (lastVersion && lastVersion.version === known) return { unchanged: true, version: known };
    if (lastVersion && lastVersion.version === kept?.secret.version) return { unchanged: false, secret: kept.secret };
    // A caller with a version may still find that it is the current one, and need no value.
    return lastVersion || !hasVersion ? failed.value?.error : undefined;
  }

  #wait(entry: SourceEntry, reason: ReadReason, signal: AbortSignal): Promise<ReadResult> {
    const { since, known, force = false, batchWith = [] } = reason;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        entry.waiters.delete(waiter);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        leave();
        if (entry.call?.entries.every(({ waiters }) => waiters.size === 0)) entry.call.stop.abort(signal.reason);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        // No call starts in the future: a reason with a future instant would be read for repeatedly until then.
        since: Math.min(since, this.#options.context.clock.monotonic()),
        known: force ? undefined : known,
        batchWith,
        // A version that was seen late enough and differs from the known one: requesting it again returns nothing new.
        needsValue: force || (entry.lastVersion !== undefined && entry.lastVersion.startedAt >= since),
        resolve: (response) => {
          leave();
          resolve(response);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      entry.waiters.add(waiter);
      this.#serve(entry);
    });
  }

  #serve(entry: SourceEntry): void {
    if (entry.isServed || entry.waiters.size === 0) return;
    entry.isServed = true;
    const serving = async (): Promise<void> => {
      let isAlone = false;
      while (entry.waiters.size > 0) isAlone = await this.#callFor(entry, isAlone);
      entry.isServed = false;
    };
    // It reports the outcome to the waiters, and never rejects.
    void serving();
  }

  /** callFor makes the next call for a source, and returns whether the following one must be for that source alone. */
  async #callFor(entry: SourceEntry, isAlone: boolean): Promise<boolean> {
    const provider = await this.#provider(entry.kind).catch((error: unknown) => {
      for (const waiter of entry.waiters) waiter.reject(error);
    });
    if (!provider || entry.waiters.size === 0) return isAlone;
    if (entry.call) {
      // A call of a sibling, which includes this source.
      await entry.call.ended;
      return isAlone;
    }
    if (this.#canCompare(entry) && provider.capabilities.versions && provider.probeVersion) {
      await this.#probe(entry, provider.probeVersion.bind(provider));
      return isAlone;
    }
    const siblings = !isAlone && provider.capabilities.batch ? this.#siblings(entry) : [];
    if (siblings.length > 0 && provider.fetchSecrets) {
      return await this.#fetchBatch([entry, ...siblings], provider.fetchSecrets.bind(provider));
    }
    const call = await this.#call([entry], (signal) => provider.fetchSecret(entry.ref, signal));
    if (call) this.#deliver(entry, call.startedAt, call.response, 1);
    return false;
  }

  /** Reports whether a version alone may be enough for all waiters. */
  #canCompare({ key, waiters }: SourceEntry): boolean {
    const kept = this.#values.get(key)?.secret.version;
    return [...waiters].every(({ needsValue, known }) => !needsValue && (known ?? kept) !== undefined);
  }

  async #probe(entry: SourceEntry, probeVersion: NonNullable<SecretProvider['probeVersion']>): Promise<void> {
    const call = await this.#call([entry], (signal) => probeVersion(entry.ref, signal), 'version');
    if (!call) return;
    const settled = deliverVersion(entry, call.startedAt, call.response, this.#values.get(entry.key)?.secret);
    this.#countCoalesced(entry, settled - 1);
  }

  /** Returns the sources that will be read next, can be read with this one, and are not being read. */
  #siblings(entry: SourceEntry): readonly SourceEntry[] {
    const found = new Set<SourceEntry>();
    const group = siblingsKey(entry.kind, entry.ref);
    for (const { since, batchWith } of entry.waiters) {
      for (const source of batchWith) {
        if (found.size === MAX_BATCH_SIZE - 1) break;
        if (source.provider !== entry.kind.name || siblingsKey(entry.kind, source.ref) !== group) continue;
        const sibling = this.#entryOf(source);
        if (sibling !== entry && !sibling.call && !this.#remembered(sibling, { since })) found.add(sibling);
      }
    }
    return [...found];
  }

  /** Returns whether the first of them has to be read alone now. */
  async #fetchBatch(
    entries: readonly [SourceEntry, ...SourceEntry[]],
    fetchSecrets: NonNullable<SecretProvider['fetchSecrets']>,
  ): Promise<boolean> {
    const [first] = entries;
    const refs = entries.map(({ ref }) => ref);
    const call = await this.#call(entries, (signal) => fetchSecrets(refs, signal));
    for (const [index, entry] of entries.entries()) {
      const outcome = call?.response[index];
      if (call && outcome) this.#deliverOutcome(entry, call.startedAt, outcome, entry === first ? 1 : 0);
      if (entry !== first) this.#serve(entry);
    }
    return call !== undefined;
  }

  #deliverOutcome(entry: SourceEntry, startedAt: number, outcome: ExternalSecret | ProviderError, own: 0 | 1): void {
    if (!(outcome instanceof ProviderError)) this.#deliver(entry, startedAt, outcome, own);
    // A transient error is retried separately, as often as any other call.
    else if (outcome.kind !== 'transient') {
      rememberError(entry, 'value', { startedAt, error: outcome });
      deliverError(entry, startedAt, outcome);
    }
  }

  /**
   * Passes a secret to the waiters that its call may serve, `own` of which it was made for, and keeps it for late ones.
   */
  #deliver(entry: SourceEntry, startedAt: number, secret: ExternalSecret, own: 0 | 1): void {
    this.#values.set(entry.key, { startedAt, secret });
    this.#countCoalesced(entry, deliverSecret(entry, startedAt, secret) - own);
  }

  #countCoalesced({ kind }: SourceEntry, reads: number): void {
    for (let count = 0; count < reads; count++) this.#options.metrics.countCoalesced(kind.name);
  }

  /** Makes a call for the waiters of all entries. If it fails, they receive the error. */
  async #call<T>(
    entries: readonly [SourceEntry, ...SourceEntry[]],
    attempt: (signal: AbortSignal) => Promise<T>,
    of: 'version' | 'value' = 'value',
  ): Promise<{ readonly startedAt: number; readonly response: T } | undefined> {
    const { clock, random } = this.#options.context;
    const stop = new AbortController();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const call: SourceCall = { entries, stop, ended, startedAt: clock.monotonic() };
    for (const entry of entries) entry.call = call;
    try {
      const begin = (signal: AbortSignal): Promise<T> => {
        call.startedAt = clock.monotonic();
        return attempt(signal);
      };
      const timeoutError = (): ProviderError => attemptTimeout(entries[0], ATTEMPT_LIMIT_MS);
      const limits = { clock, random, signal: stop.signal, limitMs: ATTEMPT_LIMIT_MS, timeoutError };
      return { response: await withRetries(begin, limits), startedAt: call.startedAt };
    } catch (error) {
      // A call without waiters was stopped; later callers need another one.
      if (stop.signal.aborted) return undefined;
      if (!(error instanceof ProviderError))
        this.#options.context.log.error('a provider threw an unexpected error', locationOf(error));
      for (const entry of entries) {
        const problem = error instanceof ProviderError ? error : unexpectedError(entry, error);
        // The error of a batch may be about another source of the batch.
        if (entries.length === 1) rememberError(entry, of, { startedAt: call.startedAt, error: problem });
        deliverError(entry, call.startedAt, problem);
      }
      return undefined;
    } finally {
      for (const entry of entries) entry.call = undefined;
      end();
    }
  }

  /** A provider is loaded on first use, and again after loading has failed. */
  #provider(kind: ConfiguredKind): Promise<SecretProvider> {
    const known = this.#providers.get(kind.name);
    if (known) return known;
    const { context, metrics } = this.#options;
    const loading = kind.load({
      ...context,
      observe: (call) => metrics.observeCall({ provider: kind.name, ...call }),
    });
    this.#providers.set(kind.name, loading);
    loading.catch(() => this.#providers.delete(kind.name));
    return loading;
  }

  #end(reason: unknown): void {
    for (const { waiters, call } of this.#entries.values()) {
      for (const waiter of waiters) waiter.reject(reason);
      call?.stop.abort(reason);
    }
    this.#values.clear();
  }
}
