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

/** LeaderElectorOptions configures a LeaderElector. */
export interface LeaderElectorOptions extends Partial<LeaseTiming> {
  /** Use `client.onLeaseLane()`, so that a renewal never waits behind other calls. */
  readonly client: LeaseClient;
  /** The Lease; its namespace must exist. */
  readonly lease: ObjectKey;
  /** The holder identity of this candidate; must be unique per process, for example `<host name>_<random>`. */
  readonly identity: string;
  /** Owns the Lease's fields. Defaults to `leader-election`. */
  readonly fieldManager?: string;
  /** The clock for all timing in this class. Defaults to the system clock. */
  readonly wire?: Clock;
  /** Source of jitter. Defaults to Math.random. */
  readonly random?: Random;
  /** Defaults to no logging. */
  readonly log?: Log;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics;
  /**
   * Measures how late the event loop runs; the guard refuses a write that might be sent too late. Defaults to never
   * late.
   */
  readonly lag?: LagSource;
}

/** The number of own claims without a response to remember; each may have been stored. */
const MAX_UNCONFIRMED_CLAIMS = 8;

/** Acquired is a Lease we now hold, and when the request that acquired it was sent. */
interface Acquired {
  readonly lease: Lease;
  readonly sentAt: Moment;
}

/**
 * LeaderElector elects one of several processes as the holder of a Lease.
 *
 * Guarantees, if all candidates use the same durations and their clocks run at about the same rate: no guarded write
 * starts later than `renewDeadlineMs` after the last successful renewal was sent, each write ends within
 * `leaseDurationMs - renewDeadlineMs`, and no other candidate takes the Lease earlier than `leaseDurationMs` after that
 * renewal. The guarantees do not hold if the Lease is deleted or its holder is cleared by hand, and they do not cover
 * what the server still does with a request whose client is gone.
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
  #unconfirmedClaims: readonly string[] = [];
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
      help: 'Whether this process holds the Lease: 1 for the holder, 0 for a standby.',
      labels: ['name'],
    });
    this.#slowPath = metrics.counter({
      name: 'leader_election_slowpath_total',
      help: 'Renewals that had to read the Lease again because it had changed.',
      labels: ['name'],
    });
    this.#masterStatus.set(0, { name: this.#key.name });
    this.#slowPath.add({ name: this.#key.name }, 0);
  }

  /** isLeader returns whether this process holds the Lease at this moment. */
  get isLeader(): boolean {
    return this.#held?.isHeld ?? false;
  }

  /** holder returns the holder of the Lease as of the last read. */
  holder(): string | undefined {
    return this.isLeader ? this.#identity : this.#holder;
  }

  /** problem returns why the last attempt to read or write the Lease failed, or undefined if it succeeded. */
  problem(): BowlineError | undefined {
    return this.#problem;
  }

  /**
   * acquire waits without a time limit until this identity holds the Lease. An unreachable server, a missing permission
   * or a missing namespace is logged once and retried. Rejects with the signal's reason when it is aborted.
   */
  async acquire(signal?: AbortSignal): Promise<Leadership> {
    if (this.#acquiring || this.#held) {
      throw new BowlineError(
        'BOWLINE_LEASE_BUSY',
        `cannot acquire Lease ${keyString(this.#key)} twice: this elector already waits for or holds it`,
      );
    }
    this.#acquiring = true;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const acquired = await this.#attempt(signal);
        if (acquired) return await this.#hold(acquired, signal);
        await this.#wire.sleep(this.#untilNextAttempt(), signal);
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
    // The claim was already in flight when the caller aborted: release the Lease instead of letting it expire.
    if (signal?.aborted) {
      await held.release();
      signal.throwIfAborted();
    }
    return held;
  }

  /** #attempt reads the Lease once and claims it if it is free. */
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
      // Not cancelled by the signal: a response that is never read would leave a Lease without a living holder.
      const options = { timeoutMs, fieldManager: this.#fieldManager };
      let lease: Lease;
      if (!found) {
        verb = 'create';
        lease = await this.#client.create(Lease, newLease(this.#key, claim), options);
      } else {
        verb = 'update';
        lease = await this.#client.update(Lease, mine ? renewed(found, claim) : takenOver(found, claim), options);
      }
      this.#unconfirmedClaims = [];
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
    this.#observation.observe(found, this.#wire.monotonic());
    this.#holder = this.#observation.holder;
    if (this.#holder !== before && this.#holder !== undefined) {
      this.#log.info('waiting for the Lease', { holder: this.#holder });
    }
  }

  /**
   * The microseconds of acquireTime distinguish our own unconfirmed claim from a claim of a process with the same
   * identity.
   */
  #isOwnClaim(found: Lease | undefined): boolean {
    return holderOf(found) === this.#identity && this.#unconfirmedClaims.includes(found?.spec?.acquireTime ?? '');
  }

  #claim(): Claim {
    const at = microTime(this.#wire.now(), this.#random);
    this.#unconfirmedClaims = [...this.#unconfirmedClaims, at].slice(-MAX_UNCONFIRMED_CLAIMS);
    return { identity: this.#identity, leaseDurationMs: this.#timing.leaseDurationMs, at };
  }

  /**
   * The retry period, or the holder's remaining time if that is shorter; jittered so that candidates do not retry at
   * the same time.
   */
  #untilNextAttempt(): number {
    const { retryPeriodMs } = this.#timing;
    const remaining = this.#observation.remainingMs(this.#wire.monotonic());
    const base = remaining > 0 && this.#problem === undefined ? Math.min(retryPeriodMs, remaining) : retryPeriodMs;
    return base + between(this.#random, 0, RETRY_JITTER) * retryPeriodMs;
  }

  #report(problem: BowlineError | undefined): void {
    const before = this.#problem;
    this.#problem = problem;
    if (problem && problem.code !== before?.code) {
      this.#log.warn('cannot use the Lease, retrying', { error: problem });
    } else if (!problem && before) {
      this.#log.info('the Lease is usable again', {});
    }
  }
}
