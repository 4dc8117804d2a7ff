import { keyString, Lease, type ObjectKey } from '@bowline/kubernetes';
import { between, type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Counter, type Gauge, type Metrics, noMetrics } from '../observability/metrics.ts';
import { HeldLease, type Moment, momentOf } from './held-lease.ts';
import type { LagSource, Leadership } from './leadership.ts';
import { DEFAULT_FIELD_MANAGER, type LeaseClient } from './lease-client.ts';
import { leaseProblem, statusOf } from './lease-error.ts';
import { type Claim, holderOf, LeaseObservation, microTime, newLease, renewed, takenOver } from './lease-record.ts';
import { checkLeaseTiming, DEFAULT_LEASE_TIMING, type LeaseTiming, RETRY_JITTER } from './lease-timing.ts';

/** LeaderElectorOptions configures a candidate. */
export interface LeaderElectorOptions extends Partial<LeaseTiming> {
  /** Use `client.onLeaseLane()`, so that a renewal never waits behind other calls. */
  readonly client: LeaseClient;
  /** The Lease; its namespace must exist. */
  readonly lease: ObjectKey;
  /** Who this is in the record: unique per process, for instance `<host name>_<random>`. */
  readonly identity: string;
  /** Owns the Lease's fields. Defaults to `leader-election`. */
  readonly fieldManager?: string;
  /** Times everything here. Defaults to the system's clock. */
  readonly wire?: Clock;
  /** Source of jitter. Defaults to Math.random. */
  readonly random?: Random;
  /** Defaults to no logs. */
  readonly log?: Log;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics;
  /** How late the event loop runs; the guard refuses a write that might leave too late. Defaults to never late. */
  readonly lag?: LagSource;
}

/** How many own claims without an answer are remembered; each may turn out to have been stored. */
const REMEMBERED_CLAIMS = 8;

/** Acquired is a Lease that has become ours, and when the request that did it was sent. */
interface Acquired {
  readonly lease: Lease;
  readonly sentAt: Moment;
}

/**
 * LeaderElector makes one of several processes the holder of a Lease.
 *
 * What it guarantees, with the same durations on all candidates and clocks that run at about the same rate: no write
 * through the guard starts later than `renewDeadlineMs` after the last successful renewal was sent, each ends within
 * `leaseDurationMs - renewDeadlineMs`, and no other candidate takes the Lease earlier than `leaseDurationMs` after that
 * renewal. It does not hold when somebody deletes the Lease or empties its holder by hand, and it says nothing about
 * what the server still does with a request whose client has gone.
 *
 * @example
 * ```ts
 * const elector = new LeaderElector({ client: client.onLeaseLane(), lease: { namespace, name: 'demo' }, identity });
 * await using leadership = await elector.acquire(signal);
 * const writer = client.guarded(leadership.guard);
 * ```
 */
export class LeaderElector {
  readonly #client: LeaseClient;
  readonly #key: ObjectKey;
  readonly #identity: string;
  readonly #fieldManager: string;
  readonly #timing: LeaseTiming;
  readonly #wire: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #lag: LagSource | undefined;
  readonly #masterStatus: Gauge;
  readonly #slowPath: Counter;
  readonly #observation: LeaseObservation;
  #unanswered: readonly string[] = [];
  #acquiring = false;
  #held: HeldLease | undefined;
  #holder: string | undefined;
  #problem: BowlineError | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#timing = checkLeaseTiming({
      leaseDurationMs: options.leaseDurationMs ?? DEFAULT_LEASE_TIMING.leaseDurationMs,
      renewDeadlineMs: options.renewDeadlineMs ?? DEFAULT_LEASE_TIMING.renewDeadlineMs,
      retryPeriodMs: options.retryPeriodMs ?? DEFAULT_LEASE_TIMING.retryPeriodMs,
    });
    if (options.identity === '' || options.lease.name === '') {
      throw new BowlineError(
        'BOWLINE_LEASE_OPTIONS_INVALID',
        'cannot elect a leader: the identity and the name of the Lease must not be empty',
      );
    }
    this.#client = options.client;
    this.#key = options.lease;
    this.#identity = options.identity;
    this.#fieldManager = options.fieldManager ?? DEFAULT_FIELD_MANAGER;
    this.#wire = options.wire ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = (options.log ?? silentLog).with({ lease: keyString(options.lease), identity: options.identity });
    this.#lag = options.lag;
    this.#observation = new LeaseObservation(this.#timing.leaseDurationMs);
    const metrics = options.metrics ?? noMetrics;
    this.#masterStatus = metrics.gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process holds the Lease: 1 holder, 0 standby.',
      labels: ['name'],
    });
    this.#slowPath = metrics.counter({
      name: 'leader_election_slowpath_total',
      help: 'Renewals that had to read the Lease again because it was not as last seen.',
      labels: ['name'],
    });
    this.#masterStatus.set(0, { name: this.#key.name });
    this.#slowPath.add({ name: this.#key.name }, 0);
  }

  /** isLeader is whether this process holds the Lease at this moment. */
  get isLeader(): boolean {
    return this.#held?.isHeld ?? false;
  }

  /** holder is who holds the Lease as far as known: from the last look, not from now. */
  holder(): string | undefined {
    return this.isLeader ? this.#identity : this.#holder;
  }

  /** problem is why the last attempt to read or write the Lease failed; undefined when it did not. */
  problem(): BowlineError | undefined {
    return this.#problem;
  }

  /**
   * acquire waits, however long, until this identity holds the Lease. A server that cannot be reached, a missing right
   * or namespace is logged once and tried again. Rejects with the signal's reason when that is aborted.
   */
  async acquire(signal?: AbortSignal): Promise<Leadership> {
    if (this.#acquiring || this.#held) {
      throw new BowlineError(
        'BOWLINE_LEASE_BUSY',
        `cannot acquire Lease ${keyString(this.#key)} twice: this elector already waits for it or holds it`,
      );
    }
    this.#acquiring = true;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const acquired = await this.#attempt(signal);
        if (acquired) return await this.#hold(acquired, signal);
        await this.#wire.sleep(this.#untilNextLook(), signal);
      }
    } finally {
      this.#acquiring = false;
    }
  }

  async #hold({ lease, sentAt }: Acquired, signal: AbortSignal | undefined): Promise<Leadership> {
    this.#masterStatus.set(1, { name: this.#key.name });
    this.#log.info('became leader', { transitions: lease.spec?.leaseTransitions });
    const held = new HeldLease({
      client: this.#client,
      key: this.#key,
      identity: this.#identity,
      fieldManager: this.#fieldManager,
      timing: this.#timing,
      wire: this.#wire,
      random: this.#random,
      log: this.#log,
      lag: this.#lag,
      lease,
      sentAt,
      onAttempt: (problem) => this.#report(problem),
      onSlowPath: () => this.#slowPath.add({ name: this.#key.name }),
      onEnd: (holder) => {
        this.#held = undefined;
        this.#holder = holder;
        this.#masterStatus.set(0, { name: this.#key.name });
      },
    });
    this.#held = held;
    // The claim was already on its way when the caller gave up: hand the Lease on instead of letting it run out.
    if (signal?.aborted) {
      await held.release();
      signal.throwIfAborted();
    }
    return held;
  }

  /** Looks once and claims the Lease when it is free. */
  async #attempt(signal: AbortSignal | undefined): Promise<Acquired | undefined> {
    const timeoutMs = this.#timing.renewDeadlineMs / 2;
    let verb: 'get' | 'create' | 'update' = 'get';
    try {
      const found = await this.#client.find(Lease, this.#key, { timeoutMs, signal });
      const mine = this.#isOwnClaim(found);
      this.#observe(found);
      if (!mine && this.#observation.remainingMs(this.#wire.monotonic()) > 0) {
        this.#report(undefined);
        return undefined;
      }
      const claim = this.#claim();
      const sentAt = momentOf(this.#wire);
      // Not cut short by the signal: an answer that nobody waits for would leave a Lease without a living holder.
      const options = { timeoutMs, fieldManager: this.#fieldManager };
      let lease: Lease;
      if (!found) {
        verb = 'create';
        lease = await this.#client.create(Lease, newLease(this.#key, claim), options);
      } else {
        verb = 'update';
        lease = await this.#client.update(Lease, mine ? renewed(found, claim) : takenOver(found, claim), options);
      }
      this.#unanswered = [];
      this.#report(undefined);
      return { lease, sentAt };
    } catch (error) {
      signal?.throwIfAborted();
      // A conflict means that another candidate was faster.
      this.#report(statusOf(error) === 409 ? undefined : leaseProblem(verb, this.#key, error));
      return undefined;
    }
  }

  #observe(found: Lease | undefined): void {
    const before = this.#holder;
    this.#observation.note(found, this.#wire.monotonic());
    this.#holder = this.#observation.holder;
    if (this.#holder !== before && this.#holder !== undefined) {
      this.#log.info('waiting for the Lease', { holder: this.#holder });
    }
  }

  /** The microseconds of acquireTime tell our own unanswered claim from one of a process with the same identity. */
  #isOwnClaim(found: Lease | undefined): boolean {
    return holderOf(found) === this.#identity && this.#unanswered.includes(found?.spec?.acquireTime ?? '');
  }

  #claim(): Claim {
    const at = microTime(this.#wire.now(), this.#random);
    this.#unanswered = [...this.#unanswered, at].slice(-REMEMBERED_CLAIMS);
    return { identity: this.#identity, leaseDurationMs: this.#timing.leaseDurationMs, at };
  }

  /** The retry period, or the rest of the holder's time if that is shorter; jittered, so that candidates take turns. */
  #untilNextLook(): number {
    const { retryPeriodMs } = this.#timing;
    const remaining = this.#observation.remainingMs(this.#wire.monotonic());
    const base = remaining > 0 && this.#problem === undefined ? Math.min(retryPeriodMs, remaining) : retryPeriodMs;
    return base + between(this.#random, 0, RETRY_JITTER) * retryPeriodMs;
  }

  #report(problem: BowlineError | undefined): void {
    const before = this.#problem;
    this.#problem = problem;
    if (problem && problem.code !== before?.code) {
      this.#log.warn('cannot use the Lease, trying again', { error: problem });
    } else if (!problem && before) {
      this.#log.info('the Lease is usable again', {});
    }
  }
}
