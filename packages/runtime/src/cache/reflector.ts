import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { between, type Clock, type Random } from '@bowline/machinery';
import type { Client, ListOptions, WatchStream } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Failure, failureOf } from './failure.ts';
import { InitialState } from './initial-state.ts';
import { listSnapshot, probeVersion } from './list-snapshot.ts';
import { ReconnectBackoff } from './reconnect-backoff.ts';
import { newReflectorStatus, type ReflectorStatus } from './reflector-status.ts';
import type { ReflectorTarget, Snapshot } from './reflector-target.ts';
import { MAX_CONSECUTIVE_FAILURES, ResumePoint } from './resume-point.ts';
import { ServerSupport } from './server-support.ts';
import { WatchAttempt } from './watch-attempt.ts';
import { type Observation, observationsIn } from './watch-event.ts';

/**
 * The timeout is random above this minimum: a fleet whose watches all ended after the same time would reconnect
 * together.
 */
const MIN_WATCH_S = 300;
const MAX_WATCH_S = 600;
/** The time until an unconfirmed watch is checked again. */
const UNCONFIRMED_WATCH_S = 30;
/**
 * A watch that ends sooner and delivered nothing is a failure; otherwise a broken server would get requests in a hot
 * loop.
 */
const SHORT_WATCH_MS = 1_000;
/**
 * A served kind returns 404 briefly while its definition is replaced; only a lasting 404 means that the definition was
 * removed.
 */
const KIND_REMOVED_AFTER_MS = 10_000;

/** ReflectorOptions configures a reflector. */
export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, 'list' | 'watch'>;
  readonly resource: Resource<T>;
  /** Namespace, selectors and whether metadata is enough. Defaults to all objects with full content. */
  readonly scope?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;
  readonly target: ReflectorTarget;
  readonly wire: Clock;
  readonly random: Random;
  /** Defaults to no logging. */
  readonly log?: Log;
  /** Remembers, for several reflectors, what the server does not support. Defaults to a new instance. */
  readonly support?: ServerSupport;
  /** Called after each complete state has been committed. */
  readonly onSynced?: () => void;
  /** Called when the kind is found not to be served, after its objects were removed. */
  readonly onNotServed?: () => void;
}

/**
 * Reflector keeps a target equal to the server's state until it is stopped: it fetches the state, follows the changes,
 * and recovers from every interruption without missing a state, going back to an older one or sending too many
 * requests.
 */
export class Reflector<T extends KubernetesObject> {
  readonly #client: Pick<Client, 'list' | 'watch'>;
  readonly #resource: Resource<T>;
  readonly #scope: NonNullable<ReflectorOptions<T>['scope']>;
  readonly #target: ReflectorTarget;
  readonly #wire: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #support: ServerSupport;
  readonly #onSynced: () => void;
  readonly #onNotServed: () => void;
  readonly #backoff: ReconnectBackoff;
  readonly #status = newReflectorStatus();
  readonly #point = new ResumePoint();
  /** Consecutive responses that report that the kind is not served. */
  #notServed: { since: number; responses: number } | undefined;
  /** The failure that was last logged since the watch last worked. */
  #lastLogged: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#client = options.client;
    this.#resource = options.resource;
    this.#scope = options.scope ?? {};
    this.#target = options.target;
    this.#wire = options.wire;
    this.#random = options.random;
    this.#log = options.log ?? silentLog;
    this.#support = options.support ?? new ServerSupport(options.wire);
    this.#onSynced = options.onSynced ?? (() => undefined);
    this.#onNotServed = options.onNotServed ?? (() => undefined);
    this.#backoff = new ReconnectBackoff(options.wire, options.random);
  }

  /** status is live: its values change as the reflector works. */
  get status(): Readonly<ReflectorStatus> {
    return this.#status;
  }

  /** version returns the last resourceVersion passed to the target. */
  get version(): string | undefined {
    return this.#point.version;
  }

  /** run works until the signal aborts, and resolves when no request is in flight and none will follow. */
  async run(signal: AbortSignal): Promise<void> {
    this.#status.state = 'syncing';
    try {
      while (!signal.aborted) {
        try {
          await this.#cycle(signal);
        } catch (error) {
          if (signal.aborted) return;
          await this.#recover(error, signal);
        }
      }
    } finally {
      this.#status.state = 'stopped';
      this.#status.reason = undefined;
      this.#status.aliveAt = undefined;
    }
  }

  async #cycle(signal: AbortSignal): Promise<void> {
    if (this.#isStreamingList()) {
      await this.#follow(true, signal);
      return;
    }
    if (this.#point.needsSnapshot) await this.#list(signal);
    if (!signal.aborted) await this.#follow(false, signal);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const requested = this.#point.listVersion;
    const requestedAt = this.#wire.monotonic();
    const snapshot = this.#target.begin();
    const version = await listSnapshot({
      client: this.#client,
      resource: this.#resource,
      scope: this.#scope,
      version: requested,
      snapshot,
      signal,
    });
    signal.throwIfAborted();
    await this.#commit(snapshot, version, requested === '' ? requestedAt : undefined);
  }

  /**
   * Between two watches the server may have come back with an older history (an etcd restored from a backup). A watch
   * from our version would then be silent until the new history has passed it, and every change until then would be
   * lost. So check the current version of the server's history with the cheapest consistent read. The check runs after
   * the new watch is open: a server that is restored later has to break that watch.
   */
  async #confirm(signal: AbortSignal): Promise<void> {
    const requestedAt = this.#wire.monotonic();
    let current: string | undefined;
    try {
      current = await probeVersion(this.#client, this.#resource, this.#scope, signal);
    } catch (error) {
      if (signal.aborted || !this.#point.probeFailed(failureOf(error))) throw error;
      return;
    }
    if (current === undefined) return;
    if (this.#point.isBehind(current)) throw rewound(current, this.#point.version);
    this.#point.confirmed();
    this.#target.recordNewest(current, requestedAt);
  }

  /** #follow opens a watch and applies it until it ends: with `streamList` first the whole state, then every change. */
  async #follow(streamList: boolean, signal: AbortSignal): Promise<void> {
    using attempt = new WatchAttempt({
      wire: this.#wire,
      signal,
      onEndOverdue: () =>
        this.#log.warn('the initial state of a watch has not ended for 10 s', { kind: this.#resource.kind }),
    });
    const requested = this.#point.readable;
    const requestedAt = this.#wire.monotonic();
    try {
      const stream = await this.#client.watch(this.#resource, {
        ...this.#scope,
        resourceVersion: requested,
        allowWatchBookmarks: true,
        ...(streamList ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
        timeoutSeconds: this.#timeoutSeconds(),
        signal: attempt.signal,
        onUnexpected: ({ problem, type, kind }) => this.#skip(`unexpected ${problem}: ${type} of ${kind}`),
      });
      attempt.opened(() => stream.aliveAt());
      this.#status.aliveAt = () => stream.aliveAt();
      await this.#consume(stream, attempt, streamList, requested === undefined ? requestedAt : undefined);
    } catch (error) {
      throw attempt.ending ?? error;
    } finally {
      this.#status.aliveAt = undefined;
    }
  }
  #timeoutSeconds(): number {
    if (this.#point.unconfirmed && this.#point.probesFail) return UNCONFIRMED_WATCH_S;
    return Math.round(between(this.#random, MIN_WATCH_S, MAX_WATCH_S));
  }

  async #consume(
    stream: WatchStream<T>,
    attempt: WatchAttempt,
    streamList: boolean,
    newestSince: number | undefined,
  ): Promise<void> {
    const openedAt = this.#wire.monotonic();
    const versionAtOpen = this.#point.version;
    let initial = streamList ? new InitialState(this.#target.begin()) : undefined;
    if (initial) attempt.expectEnd();
    else await this.#opened(attempt.signal);
    for await (const batch of stream.batches()) {
      attempt.signal.throwIfAborted();
      let observations = observationsIn(batch, (why) => this.#skip(why));
      if (initial) {
        attempt.initialEvent();
        const complete = initial.take(observations);
        if (!complete) continue;
        attempt.endSeen();
        await this.#commit(initial.snapshot, complete.version, newestSince);
        initial = undefined;
        await this.#opened(attempt.signal);
        observations = complete.rest;
      }
      await this.#apply(observations);
    }
    if (initial) {
      throw new BowlineError('BOWLINE_WATCH_CUT', 'the watch ended before its initial state', { retryable: true });
    }
    this.#ended(openedAt, this.#point.version !== versionAtOpen);
  }

  async #opened(signal: AbortSignal): Promise<void> {
    if (this.#point.unconfirmed) await this.#confirm(signal);
    this.#status.state = 'watching';
    this.#status.reason = undefined;
    this.#notServed = undefined;
    this.#lastLogged = undefined;
  }

  /** A clean end is normal and causes no delay, unless the watch was too short. */
  #ended(openedAt: number, advanced: boolean): void {
    if (!advanced && this.#wire.monotonic() - openedAt < SHORT_WATCH_MS) {
      throw new BowlineError('BOWLINE_WATCH_SHORT', 'the server ended the watch immediately without an event', {
        retryable: true,
      });
    }
    this.#point.ended();
    this.#status.reconnects.closed++;
  }

  async #apply(observations: readonly Observation[]): Promise<void> {
    try {
      for (const { kind, version, object } of observations) {
        if (this.#point.isBehind(version)) throw rewound(version, this.#point.version);
        if (kind === 'bookmark') {
          this.#status.lastBookmarkAt = this.#wire.monotonic();
        } else {
          this.#status.lastEventAt = this.#wire.monotonic();
          if (kind === 'upsert') this.#target.upsert(object);
          else this.#target.remove(object);
        }
        this.#point.advanced(version);
      }
    } finally {
      // Flush even if the batch was interrupted: the events applied so far must be delivered.
      await this.#target.flush(this.#point.version);
    }
  }

  async #commit(snapshot: Snapshot, version: string, newestSince: number | undefined): Promise<void> {
    const from = this.#point.version;
    const wentBack = this.#point.isBehind(version);
    // An older state is never stored unless the newest one was requested; request the newest one instead.
    if (wentBack && newestSince === undefined) throw rewound(version, from);
    if (wentBack) {
      this.#status.rewinds++;
      const kind = this.#resource.kind;
      this.#log.warn('the history of the API server went back; using its current state', { kind, from, to: version });
    }
    if (this.#status.synced) this.#status.relists++;
    this.#point.replaced(version, newestSince !== undefined);
    this.#notServed = undefined;
    this.#status.lastEventAt = this.#wire.monotonic();
    if (this.#status.served === false) this.#log.info('a kind is served now', { kind: this.#resource.kind });
    // Before the handlers are called: what they start must not find objects of a kind that is not served.
    this.#status.served = true;
    await this.#target.commit(snapshot, version, { rewound: wentBack, newestSince });
    this.#status.synced = true;
    this.#onSynced();
  }

  #skip(why: string): void {
    this.#status.skippedEvents++;
    this.#log.warn('skipped a watch event that cannot belong to this kind', { kind: this.#resource.kind, why });
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const failure = failureOf(error);
    // Another way to get the same state may be tried immediately.
    const hasFallback = failure.kind === 'no-end' || (failure.kind === 'refused' && this.#isStreamingList());
    if (hasFallback) this.#support.markStreamingUnsupported(this.#resource);
    this.#point.failed(failure, this.#wire.monotonic());
    this.#count(failure);
    if (failure.kind === 'not-served') await this.#countNotServed();
    else this.#notServed = undefined;
    if (hasFallback) return;
    const waitMs = this.#backoff.next(failure.retryAfterMs);
    this.#logInterruption(failure, error, waitMs);
    await this.#wire.sleep(waitMs, signal).catch(() => undefined);
  }

  /** Log one line per distinct failure of an outage, not one per attempt. */
  #logInterruption(failure: Failure, error: unknown, waitMs: number): void {
    const fields = { kind: this.#resource.kind, reason: failure.reason, error, waitMs: Math.round(waitMs) };
    const level = failure.message === this.#lastLogged ? 'debug' : 'info';
    this.#lastLogged = failure.message;
    if (failure.kind === 'not-served' && !this.#status.synced) {
      this.#log[level]('a kind is not served; it is watched as soon as it is', fields);
    } else this.#log[level]('a watch was interrupted and will be resumed', fields);
  }

  #isStreamingList(): boolean {
    return (
      this.#point.needsSnapshot && !this.#point.streamedListsFail && this.#support.supportsStreaming(this.#resource)
    );
  }

  #count(failure: Failure): void {
    const status = this.#status;
    status.reconnects[failure.reason]++;
    if (failure.kind === 'expired') status.expired++;
    if (failure.kind === 'decode') status.decodeErrors++;
    if (failure.kind === 'not-served') {
      status.state = 'not-served';
      status.reason = `the server does not serve ${this.#resource.id}; install its definition or check the version`;
    } else if (failure.kind === 'forbidden') {
      status.state = 'forbidden';
      status.reason = `${missingRule(this.#resource, this.#scope.namespace)}; the server returned: ${failure.message}`;
      // Authorization comes first: the server no longer shows whether it serves the kind.
      if (!status.synced) status.served = undefined;
    } else {
      status.state = 'backing-off';
      status.reason = failure.message;
    }
  }

  /** A kind that was served and is lastingly not served any more has lost its definition, and with it every object. */
  async #countNotServed(): Promise<void> {
    const now = this.#wire.monotonic();
    this.#notServed ??= { since: now, responses: 0 };
    this.#notServed.responses++;
    if (!this.#status.synced) {
      this.#status.served = false;
      this.#onNotServed();
      return;
    }
    if (this.#notServed.responses < MAX_CONSECUTIVE_FAILURES || now - this.#notServed.since < KIND_REMOVED_AFTER_MS)
      return;
    this.#status.synced = false;
    this.#status.served = false;
    this.#point.forget();
    this.#log.warn('a kind is no longer served; its objects are treated as deleted', { kind: this.#resource.kind });
    await this.#target.removeAll();
    this.#onNotServed();
  }
}

function rewound(version: string, known: string | undefined): BowlineError {
  return new BowlineError(
    'BOWLINE_WATCH_REWOUND',
    `the server is at resourceVersion ${version}, but was at ${known} before: its history went back`,
    { retryable: true },
  );
}

function missingRule(resource: Resource, namespace: string | undefined): string {
  const where = namespace ? `in namespace ${namespace}` : 'in the whole cluster';
  return `not allowed to read ${resource.plural} ${where}; grant apiGroups: ["${resource.group}"], resources: ["${resource.plural}"], verbs: ["get", "list", "watch"]`;
}
