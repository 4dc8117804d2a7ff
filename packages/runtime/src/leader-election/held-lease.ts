import { keyString, Lease, type ObjectKey } from '@bowline/kubernetes';
import { between, type Clock, type Random, type Timer } from '@bowline/machinery';
import type { WriteGuard } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import type { LagSource, Leadership } from './leadership.ts';
import type { LeaseClient } from './lease-client.ts';
import { leaseProblem, statusOf } from './lease-error.ts';
import { holderOf, microTime, newLease, released, renewed } from './lease-record.ts';
import { type LeaseTiming, RETRY_JITTER } from './lease-timing.ts';

/** Moment is a point in time, on both the monotonic and the wall clock. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** momentOf reads both the monotonic and the wall clock. */
export function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * A renewal requested by a refused write happens at the earliest after this fraction (1/n) of the retry period since
 * the last one.
 */
const MIN_PAUSE_DIVISOR = 4;

/** HeldLeaseOptions configures a HeldLease. The elector fills it in once it has acquired the Lease. */
export interface HeldLeaseOptions {
  readonly client: LeaseClient;
  readonly key: ObjectKey;
  readonly identity: string;
  readonly fieldManager: string;
  readonly timing: LeaseTiming;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly lag: LagSource | undefined;
  /** The Lease as returned by the API server. */
  readonly lease: Lease;
  /** When the request that acquired the Lease was sent. */
  readonly sentAt: Moment;
  /** Called after each renewal attempt with its error, or undefined on success. */
  readonly onAttempt: (problem: BowlineError | undefined) => void;
  /** Called each time a renewal had to read the Lease again. */
  readonly onSlowPath: () => void;
  /** Called once when leadership ends; `holder` is the holder at that time, as far as known. */
  readonly onEnd: (holder: string | undefined) => void;
}

/**
 * HeldLease renews a Lease in the background and reports whether it is still held.
 *
 * All deadlines count from the moment the last successful renewal was *sent*: the server stored it later, and the other
 * candidates saw it later still, so they can only wait longer. The guard compares the clock on each call. A timer,
 * which may fire late in a blocked or stopped process, is used only to notify the owner.
 */
export class HeldLease implements Leadership {
  readonly guard: WriteGuard;
  readonly #options: HeldLeaseOptions;
  readonly #client: LeaseClient;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  readonly #renewing: Promise<void>;
  #lease: Lease;
  #sentAt: Moment;
  #deadline: Timer;
  #wake: (() => void) | undefined;
  #renewSooner: (() => void) | undefined;
  #ended = false;
  #releasing: Promise<void> | undefined;

  constructor(options: HeldLeaseOptions) {
    this.#options = options;
    this.#lease = options.lease;
    this.#sentAt = options.sentAt;
    const { leaseDurationMs, renewDeadlineMs } = options.timing;
    this.guard = {
      assertMayWrite: () => this.#assertMayWrite(),
      writeTimeoutMs: leaseDurationMs - renewDeadlineMs,
    };
    // A renewal that waited for a connection past the deadline must not be sent: leadership has ended by then.
    this.#client = options.client.guarded({
      assertMayWrite: () => this.#assertHeld(),
      writeTimeoutMs: renewDeadlineMs,
    });
    this.#deadline = this.#armDeadline();
    this.#renewing = this.#keepRenewing();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** isHeld returns whether the Lease is held at this moment. */
  get isHeld(): boolean {
    return !this.#ended && this.#remainingMs() > 0;
  }

  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #remainingMs(): number {
    const { renewDeadlineMs } = this.#options.timing;
    return this.#sentAt.monotonic + renewDeadlineMs - this.#options.wire.monotonic();
  }

  /**
   * #assertHeld throws if the Lease was lost or released, or if the deadline has passed. It checks the deadline itself
   * because the timer may be late.
   */
  #assertHeld(): void {
    const late = this.#remainingMs() <= 0;
    if (late) this.#loseByDeadline();
    if (this.#lost.signal.aborted) throw this.#notLeader('it was lost', this.#lost.signal.reason);
    if (late) throw this.#notLeader('it expired');
  }

  #assertMayWrite(): void {
    this.#assertHeld();
    if (this.#ended) throw this.#notLeader('it was released');
    const { wire, lag, timing } = this.#options;
    // A write started now leaves the process only when the event loop gets to it. Assume that the loop may be as late
    // again as it has been recently.
    const margin = lag?.lagMs() ?? 0;
    if (this.#remainingMs() <= margin) {
      this.#renewSooner?.();
      throw this.#notLeader(
        `the event loop has been ${Math.round(margin)} ms late, longer than the time left until its deadline`,
      );
    }
    // The monotonic clock stops while the machine is suspended, the wall clock does not. A wall clock that was only set
    // forward looks the same, so leadership is not lost yet, but a renewal must succeed before the next write.
    if (wire.now() - this.#sentAt.wall >= timing.renewDeadlineMs) {
      this.#renewSooner?.();
      throw this.#notLeader(
        'the wall clock jumped, as after the machine was suspended, and it has not been renewed since',
      );
    }
  }

  #notLeader(why: string, cause?: unknown): BowlineError {
    const lease = keyString(this.#options.key);
    return new BowlineError('BOWLINE_NOT_LEADER', `refused a write under Lease ${lease}: ${why}`, {
      cause,
      retryable: !this.#ended,
    });
  }

  #armDeadline(): Timer {
    // Round up to whole milliseconds: timers are no finer, and one that fires a fraction early would fire again and
    // again.
    return this.#options.wire.setTimer(Math.ceil(this.#remainingMs()), () => {
      if (this.#remainingMs() <= 0) this.#loseByDeadline();
      else this.#deadline = this.#armDeadline();
    });
  }

  #loseByDeadline(): void {
    this.#lose(`not renewed within ${this.#options.timing.renewDeadlineMs} ms`, this.#options.identity);
  }

  #lose(why: string, holder: string | undefined): void {
    if (this.#ended) return;
    this.#end(holder);
    const { key, log } = this.#options;
    const error = new BowlineError('BOWLINE_LEADERSHIP_LOST', `lost Lease ${keyString(key)}: ${why}`);
    log.error('lost leadership', { holder, error });
    this.#lost.abort(error);
  }

  #end(holder: string | undefined): void {
    this.#ended = true;
    this.#deadline.cancel();
    this.#stop.abort();
    this.#wake?.();
    this.#options.onEnd(holder);
  }

  async #keepRenewing(): Promise<void> {
    const { timing, random, wire } = this.#options;
    while (!this.#ended) {
      const period = timing.retryPeriodMs * between(random, 1, 1 + RETRY_JITTER);
      await this.#pause(period);
      if (this.#ended) return;
      if (this.#remainingMs() <= 0) this.#loseByDeadline();
      else await this.#renew(momentOf(wire));
    }
  }

  /**
   * #pause waits for the delay. It returns early when leadership ends. A write that was refused until the next renewal
   * shortens the delay, once and not to zero: a thousand such writes must not cause a thousand renewals.
   */
  #pause(delayMs: number): Promise<void> {
    const { wire, timing } = this.#options;
    const earliest = wire.monotonic() + timing.retryPeriodMs / MIN_PAUSE_DIVISOR;
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wake = undefined;
        this.#renewSooner = undefined;
        timer.cancel();
        resolve();
      };
      let timer = wire.setTimer(delayMs, done);
      this.#wake = done;
      this.#renewSooner = () => {
        this.#renewSooner = undefined;
        timer.cancel();
        timer = wire.setTimer(earliest - wire.monotonic(), done);
      };
    });
  }

  async #renew(sentAt: Moment): Promise<void> {
    const { key, onAttempt, onSlowPath } = this.#options;
    try {
      this.#accept(await this.#client.update(Lease, renewed(this.#lease, this.#claim()), this.#limits()), sentAt);
      onAttempt(undefined);
    } catch (error) {
      if (this.#ended) return;
      const status = statusOf(error);
      if (status !== 409 && status !== 404) {
        onAttempt(leaseProblem('update', key, error));
        return;
      }
      onSlowPath();
      await this.#readAndRenew();
    }
  }

  /**
   * #readAndRenew handles a stored Lease that differs from the last known one: a previous renewal whose response was
   * lost, a label set by another client, a deletion, or another holder.
   */
  async #readAndRenew(): Promise<void> {
    const { key, wire, onAttempt } = this.#options;
    let verb: 'get' | 'create' | 'update' = 'get';
    try {
      const found = await this.#options.client.find(Lease, key, this.#limits());
      if (this.#ended) return;
      if (found && !this.#isOurs(found)) {
        this.#lose(this.#otherHolder(found), holderOf(found));
        return;
      }
      const sentAt = momentOf(wire);
      if (found) {
        verb = 'update';
        this.#accept(await this.#client.update(Lease, renewed(found, this.#claim()), this.#limits()), sentAt);
      } else {
        verb = 'create';
        // Keep acquireTime, which identifies our own claim.
        const { acquireTime = '', leaseTransitions = 0 } = this.#lease.spec ?? {};
        const fresh = newLease(key, this.#claim());
        const again: Lease = { ...fresh, spec: { ...fresh.spec, acquireTime, leaseTransitions } };
        this.#accept(await this.#client.create(Lease, again, this.#limits()), sentAt);
      }
      onAttempt(undefined);
    } catch (error) {
      // A second conflict in a row is handled by the next retry.
      if (!this.#ended && statusOf(error) !== 409) onAttempt(leaseProblem(verb, key, error));
    }
  }

  #isOurs(lease: Lease): boolean {
    return holderOf(lease) === this.#options.identity && lease.spec?.acquireTime === this.#lease.spec?.acquireTime;
  }

  #otherHolder(lease: Lease): string {
    const holder = holderOf(lease);
    if (holder === undefined) return 'its holder was cleared';
    if (holder !== this.#options.identity) return `${holder} holds it now`;
    return `another process acquired it under the same identity ${holder}; give each process its own`;
  }

  #accept(lease: Lease, sentAt: Moment): void {
    this.#lease = lease;
    if (this.#ended) return;
    this.#sentAt = sentAt;
    this.#deadline.cancel();
    this.#deadline = this.#armDeadline();
  }

  #claim() {
    const { identity, timing, wire, random } = this.#options;
    return { identity, leaseDurationMs: timing.leaseDurationMs, at: microTime(wire.now(), random) };
  }

  /** Half of the deadline, so that one hanging request does not use up all of it. */
  #limits() {
    const timeoutMs = Math.max(1, Math.min(this.#options.timing.renewDeadlineMs / 2, this.#remainingMs()));
    return {
      fieldManager: this.#options.fieldManager,
      timeoutMs,
      ...(this.#ended ? {} : { signal: this.#stop.signal }),
    };
  }

  async #release(): Promise<void> {
    const { key, log, wire, random } = this.#options;
    const held = this.isHeld;
    if (!this.#ended) this.#end(undefined);
    await this.#renewing;
    // Bounded: each retry means that another client changed the Lease in between.
    for (let attempt = 0; held && attempt < 3; attempt++) {
      try {
        await this.#client.update(Lease, released(this.#lease, microTime(wire.now(), random)), this.#limits());
        log.info('released leadership');
        return;
      } catch (error) {
        if (statusOf(error) === 409) {
          const found = await this.#options.client.find(Lease, key, this.#limits()).catch(() => undefined);
          if (!found || !this.#isOurs(found)) return;
          this.#lease = found;
        } else if (statusOf(error) === 404) {
          return;
        } else {
          log.warn('could not release leadership, the next holder has to wait until it expires', {
            error: leaseProblem('update', key, error),
          });
          return;
        }
      }
    }
  }
}
