import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { between, type Clock, type Random } from '@bowline/machinery';
import type { Client, ListOptions, WatchEvent, WatchStream } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Failure, failureOf } from './failure.ts';
import { listSnapshot, probeVersion } from './list-snapshot.ts';
import { ReconnectBackoff } from './reconnect-backoff.ts';
import { newReflectorStatus, type ReflectorStatus } from './reflector-status.ts';
import type { ReflectorTarget, Snapshot } from './reflector-target.ts';
import { isOlder } from './resource-versions.ts';
import { ServerSupport } from './server-support.ts';
import { WatchAttempt } from './watch-attempt.ts';
import { readEvent } from './watch-event.ts';

/** A fleet whose watches all end after the same time would reconnect together. */
const SHORTEST_WATCH_S = 300;
const LONGEST_WATCH_S = 600;
/** A watch that could not be confirmed is asked about again this soon. */
const UNCONFIRMED_WATCH_S = 30;
/** A watch that ends sooner and brought nothing is a failure, else a broken server would be asked in a hot loop. */
const SHORT_WATCH_MS = 1_000;
/** How long a watch may fail to resume before the state is fetched anew. */
const RESUME_DEADLINE_MS = 120_000;
/** How often the same kind of failure may repeat before another way is tried. */
const PATIENCE = 3;
/** A served kind answers 404 for a moment while its definition is replaced; only a lasting 404 means that it is gone. */
const VANISHED_AFTER_MS = 10_000;

/** ReflectorOptions configures a reflector. */
export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, 'list' | 'watch'>;
  readonly resource: Resource<T>;
  /** Namespace, selectors and whether metadata is enough. Defaults to everything, whole objects. */
  readonly scope?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;
  readonly target: ReflectorTarget;
  readonly wire: Clock;
  readonly random: Random;
  /** Defaults to silence. */
  readonly log?: Log;
  /** Shared memory of what the server refuses. Defaults to one of its own. */
  readonly support?: ServerSupport;
  /** Called after each complete state has been committed. */
  readonly onSynced?: () => void;
}

/**
 * Reflector keeps a target equal to what the server holds, for ever: it fetches the state, follows the changes, and
 * recovers from whatever interrupts it without missing a state, going back to an older one or asking too often.
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
  readonly #backoff: ReconnectBackoff;
  readonly #status = newReflectorStatus();

  /** The last resourceVersion seen: where a watch resumes, and what no later read may be older than. */
  #version: string | undefined;
  /** The server could not serve the last version: the next read asks for the newest state instead. */
  #versionUnavailable = false;
  #needsSnapshot = true;
  /** The next watch would resume at a version that nothing has confirmed since a connection was lost. */
  #unconfirmed = false;
  #failedProbes = 0;
  #failedStreamedLists = 0;
  #failedDecodes = 0;
  #resumeFailingSince: number | undefined;
  #notServed: { since: number; answers: number } | undefined;

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
    this.#backoff = new ReconnectBackoff(options.wire, options.random);
  }

  /** status is live: what it says changes as the reflector works. */
  get status(): Readonly<ReflectorStatus> {
    return this.#status;
  }

  /** version is the last resourceVersion that the target has seen. */
  get version(): string | undefined {
    return this.#version;
  }

  /** run works until the signal aborts, and resolves when no request is under way and none will follow. */
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
    if (this.#needsSnapshot && this.#mayStreamList()) {
      await this.#follow(true, signal);
      return;
    }
    if (this.#needsSnapshot) await this.#list(signal);
    if (!signal.aborted) await this.#follow(false, signal);
  }

  #mayStreamList(): boolean {
    return this.#failedStreamedLists < PATIENCE && this.#support.streamsLists(this.#resource);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const requested = this.#versionUnavailable ? '' : (this.#version ?? '0');
    const askedAt = this.#wire.monotonic();
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
    this.#failedStreamedLists = 0;
    await this.#commit(snapshot, version, requested === '' ? askedAt : undefined);
  }

  /**
   * After a lost connection the server may have come back with an older history (an etcd restored from a backup). A watch
   * from our version would then be silent until the new history has passed it, and every change until then would be lost.
   * So ask, with the cheapest consistent read there is, where the server's history stands. It is asked when the watch is
   * open already: a server that is restored later has to break it.
   */
  async #confirm(signal: AbortSignal): Promise<void> {
    const askedAt = this.#wire.monotonic();
    let current: string | undefined;
    try {
      current = await probeVersion(this.#client, this.#resource, this.#scope, signal);
      this.#failedProbes = 0;
    } catch (error) {
      // Lists may be forbidden or overloaded while watches work: going on for a short while is better than standing still.
      const { kind } = failureOf(error);
      if (kind === 'forbidden') this.#failedProbes = PATIENCE;
      else if (kind === 'not-served' || ++this.#failedProbes < PATIENCE) throw error;
    }
    if (current === undefined) return;
    if (isOlder(current, this.#version)) throw rewound(current, this.#version);
    this.#unconfirmed = false;
    this.#target.proven(current, askedAt);
  }

  #distrustVersion(): void {
    this.#needsSnapshot = true;
    this.#versionUnavailable = true;
  }

  /** follow opens a watch and applies it until it ends: first the whole state when `streamList`, then every change. */
  async #follow(streamList: boolean, signal: AbortSignal): Promise<void> {
    using attempt = new WatchAttempt({
      wire: this.#wire,
      signal,
      onEndOverdue: () =>
        this.#log.warn('the initial state of a watch has not ended for 10 s', { kind: this.#resource.kind }),
    });
    const requested = this.#versionUnavailable ? undefined : this.#version;
    const askedAt = this.#wire.monotonic();
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
      await this.#consume(stream, attempt, streamList, requested === undefined ? askedAt : undefined, signal);
    } catch (error) {
      throw attempt.ending ?? error;
    } finally {
      this.#status.aliveAt = undefined;
    }
  }

  #timeoutSeconds(): number {
    if (this.#unconfirmed && this.#failedProbes >= PATIENCE - 1) return UNCONFIRMED_WATCH_S;
    return Math.round(between(this.#random, SHORTEST_WATCH_S, LONGEST_WATCH_S));
  }

  async #consume(
    stream: WatchStream<T>,
    attempt: WatchAttempt,
    streamList: boolean,
    newestSince: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const openedAt = this.#wire.monotonic();
    const versionAtOpen = this.#version;
    attempt.opened(() => stream.aliveAt());
    this.#status.aliveAt = () => stream.aliveAt();
    let snapshot: Snapshot | undefined;
    if (streamList) {
      snapshot = this.#target.begin();
      attempt.expectEnd();
    } else {
      if (this.#unconfirmed) await this.#confirm(signal);
      // Until the stream itself shows that its history contains our version.
      this.#unconfirmed = true;
      this.#watching();
    }
    /** The highest version of a change that came before the initial state ended: initial objects are in no order. */
    let reached: string | undefined;

    for await (const batch of stream.batches()) {
      signal.throwIfAborted();
      for (const event of batch) {
        const read = readEvent(event);
        if (read.kind === 'skip') {
          this.#skip(read.why);
          continue;
        }
        this.#heard(read.kind);
        if (!snapshot) {
          this.#apply(read.kind, event, read.version);
          continue;
        }
        attempt.initialEvent();
        if (read.kind === 'upsert') snapshot.add(event.object);
        else if (read.kind === 'delete') snapshot.remove(event.object);
        if (event.type !== 'ADDED' && !isOlder(read.version, reached)) reached = read.version;
        if (read.kind !== 'bookmark' || !read.endsInitialState) continue;
        attempt.endSeen();
        this.#failedStreamedLists = 0;
        const complete = snapshot;
        snapshot = undefined;
        await this.#commit(complete, reached ?? read.version, newestSince);
        if (this.#unconfirmed) await this.#confirm(signal);
        this.#watching();
      }
      await this.#target.flush(this.#version);
      signal.throwIfAborted();
    }
    if (snapshot)
      throw new BowlineError('BOWLINE_WATCH_CUT', 'the watch ended before its initial state', { retryable: true });
    this.#ended(openedAt, this.#version !== versionAtOpen);
  }

  /** A clean end is normal and costs no delay, unless the watch was too short to have been one. */
  #ended(openedAt: number, advanced: boolean): void {
    if (!advanced && this.#wire.monotonic() - openedAt < SHORT_WATCH_MS) {
      throw new BowlineError('BOWLINE_WATCH_SHORT', 'the server ended the watch at once without an event', {
        retryable: true,
      });
    }
    this.#status.reconnects.closed++;
  }

  #apply(kind: 'upsert' | 'delete' | 'bookmark', event: WatchEvent<T>, version: string): void {
    if (isOlder(version, this.#version)) {
      throw rewound(version, this.#version);
    }
    if (kind === 'upsert') this.#target.upsert(event.object);
    else if (kind === 'delete') this.#target.remove(event.object);
    this.#version = version;
    // The stream has shown that the server's history contains our version.
    this.#unconfirmed = false;
    this.#resumed();
  }

  #resumed(): void {
    this.#failedDecodes = 0;
    this.#resumeFailingSince = undefined;
  }

  async #commit(snapshot: Snapshot, version: string, newestSince: number | undefined): Promise<void> {
    const wentBack = isOlder(version, this.#version);
    if (wentBack && newestSince === undefined) {
      // Not older than ours was asked for. Never store it; ask for the newest state instead.
      this.#distrustVersion();
      throw rewound(version, this.#version);
    }
    if (wentBack) {
      this.#status.rewinds++;
      this.#log.warn('the history of the API server went back; taking its state as it is now', {
        kind: this.#resource.kind,
        from: this.#version,
        to: version,
      });
    }
    if (this.#status.synced) this.#status.relists++;
    this.#version = version;
    this.#versionUnavailable = false;
    this.#needsSnapshot = false;
    this.#resumed();
    if (newestSince !== undefined) this.#unconfirmed = false;
    this.#notServed = undefined;
    await this.#target.commit(snapshot, version, { rewound: wentBack, newestSince });
    this.#status.synced = true;
    this.#onSynced();
  }

  #heard(kind: 'upsert' | 'delete' | 'bookmark'): void {
    if (kind === 'bookmark') this.#status.lastBookmarkAt = this.#wire.monotonic();
    else this.#status.lastEventAt = this.#wire.monotonic();
  }

  #watching(): void {
    this.#status.state = 'watching';
    this.#status.reason = undefined;
    this.#notServed = undefined;
  }

  #skip(why: string): void {
    this.#status.skippedEvents++;
    this.#log.warn('skipped a watch event that cannot belong to this kind', { kind: this.#resource.kind, why });
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const failure = failureOf(error);
    const wasSnapshot = this.#needsSnapshot;
    const delayed = this.#learn(failure, wasSnapshot);
    this.#status.reconnects[failure.reason]++;
    if (failure.kind === 'not-served') await this.#countNotServed();
    else this.#notServed = undefined;
    if (!delayed) return;
    const waitMs = this.#backoff.next(failure.retryAfterMs);
    this.#log.info('a watch was interrupted and will be resumed', {
      kind: this.#resource.kind,
      reason: failure.reason,
      error: failure.message,
      waitMs: Math.round(waitMs),
    });
    await this.#wire.sleep(waitMs, signal).catch(() => undefined);
  }

  /** learn decides from a failure how the next attempt begins; false when it may begin at once. */
  #learn(failure: Failure, wasSnapshot: boolean): boolean {
    this.#status.state = 'backing-off';
    this.#status.reason = failure.message;
    this.#unconfirmed = true;
    switch (failure.kind) {
      case 'expired':
        this.#status.expired++;
        // First from the last version, so that no other replica can show an older state; from the newest if that fails.
        if (wasSnapshot) this.#versionUnavailable = true;
        this.#needsSnapshot = true;
        return true;
      case 'too-large':
      case 'rewound':
        this.#distrustVersion();
        return true;
      case 'no-end':
        this.#support.refusedStreaming(this.#resource);
        return false;
      case 'refused':
        if (wasSnapshot && this.#mayStreamList()) {
          this.#support.refusedStreaming(this.#resource);
          return false;
        }
        this.#needsSnapshot = true;
        return true;
      case 'not-served':
        this.#status.state = 'not-served';
        this.#status.reason = `the server does not serve ${this.#resource.id}; install its definition or check the version`;
        this.#needsSnapshot = true;
        return true;
      case 'forbidden':
        this.#status.state = 'forbidden';
        this.#status.reason = `${missingRule(this.#resource, this.#scope.namespace)}; the server said: ${failure.message}`;
        return true;
      case 'decode':
        this.#status.decodeErrors++;
        if (++this.#failedDecodes >= PATIENCE) this.#needsSnapshot = true;
        this.#countStreamedListFailure(wasSnapshot);
        return true;
      case 'throttled':
      case 'unauthorized':
        this.#resumeFailed();
        return true;
      case 'server-error':
      case 'transport':
      case 'silent':
        this.#resumeFailed();
        if (failure.kind === 'server-error') this.#countStreamedListFailure(wasSnapshot);
        return true;
      case 'short':
      case 'cut':
        this.#countStreamedListFailure(wasSnapshot);
        return true;
    }
  }

  #countStreamedListFailure(wasSnapshot: boolean): void {
    if (wasSnapshot) this.#failedStreamedLists++;
  }

  #resumeFailed(): void {
    const now = this.#wire.monotonic();
    this.#resumeFailingSince ??= now;
    if (now - this.#resumeFailingSince > RESUME_DEADLINE_MS) this.#needsSnapshot = true;
  }

  /** A kind that was served and lastingly is not any more has lost its definition, and with it every object. */
  async #countNotServed(): Promise<void> {
    const now = this.#wire.monotonic();
    this.#notServed ??= { since: now, answers: 0 };
    this.#notServed.answers++;
    if (!this.#status.synced) return;
    if (this.#notServed.answers < PATIENCE || now - this.#notServed.since < VANISHED_AFTER_MS) return;
    this.#status.synced = false;
    this.#version = undefined;
    // Whatever comes next must be the newest state: a lagging replica may still have the old definition.
    this.#versionUnavailable = true;
    this.#log.warn('a kind is no longer served; its objects count as deleted', { kind: this.#resource.kind });
    await this.#target.vanished();
  }
}

function rewound(version: string, known: string | undefined): BowlineError {
  return new BowlineError(
    'BOWLINE_WATCH_REWOUND',
    `the server is at resourceVersion ${version}, but has shown ${known} before: its history went back`,
    { retryable: true },
  );
}

function missingRule(resource: Resource, namespace: string | undefined): string {
  const where = namespace ? `in namespace ${namespace}` : 'in the whole cluster';
  return `not allowed to read ${resource.plural} ${where}; grant apiGroups: ["${resource.group}"], resources: ["${resource.plural}"], verbs: ["get", "list", "watch"]`;
}
