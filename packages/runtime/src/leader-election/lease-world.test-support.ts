import { Lease, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { between, type Clock, type Random, sleepOn, type Timer, type VirtualClock } from '@bowline/machinery';
import { ApiError, BowlineError, type LeaseClient, type RequestOptions, type WriteGuard } from '@bowline/runtime';

/** Commit is one write that the simulated API stored. */
export interface Commit {
  /** The world's time. */
  readonly at: number;
  readonly by: string;
  readonly holder: string;
  readonly transitions: number;
}

/** LeaseApi stores one Lease the way the API server does: optimistic locking on resourceVersion. */
export class LeaseApi {
  lease: Lease | undefined;
  readonly commits: Commit[] = [];
  /** Called after each write that was stored, before its answer leaves. */
  onStore: (commit: Commit) => void = () => {};
  /** Answer this status instead of doing anything. */
  refuse: { readonly verb?: 'get' | 'create' | 'update'; readonly status: number } | undefined;
  readonly #world: Clock;
  #version = 0;

  constructor(world: Clock) {
    this.#world = world;
  }

  get(): Lease | undefined {
    this.#check('get');
    return this.lease;
  }

  create(by: string, lease: Lease): Lease {
    this.#check('create');
    if (this.lease) throw refusal('create', 409);
    return this.#store(by, { ...lease, metadata: { ...lease.metadata, uid: `uid-${this.#version + 1}` } });
  }

  update(by: string, lease: Lease): Lease {
    this.#check('update');
    if (!this.lease) throw refusal('update', 404);
    if (this.lease.metadata?.resourceVersion !== lease.metadata?.resourceVersion) throw refusal('update', 409);
    return this.#store(by, lease);
  }

  /** edit changes the Lease behind the electors' backs. */
  edit(change: (lease: Lease) => Lease): void {
    if (this.lease) this.#store('somebody', change(this.lease));
  }

  #check(verb: 'get' | 'create' | 'update'): void {
    if (this.refuse && (this.refuse.verb ?? verb) === verb) throw refusal(verb, this.refuse.status);
  }

  #store(by: string, lease: Lease): Lease {
    this.lease = structuredClone({
      ...lease,
      metadata: { ...lease.metadata, resourceVersion: String(++this.#version) },
    });
    const { holderIdentity = '', leaseTransitions = 0 } = lease.spec ?? {};
    const commit = { at: this.#world.monotonic(), by, holder: holderIdentity, transitions: leaseTransitions };
    this.commits.push(commit);
    this.onStore(commit);
    return this.lease;
  }
}

function refusal(verb: string, status: number): ApiError {
  return new ApiError({ request: { verb, resource: Lease, path: '/' }, status });
}

/**
 * SimulatedProcess is a machine of its own on the world's virtual clock: its wall clock is off, and it can be paused
 * (nothing runs, its monotonic clock goes on, as with SIGSTOP) or suspended (its monotonic clock stands still too).
 */
export class SimulatedProcess implements Clock {
  readonly #world: VirtualClock;
  readonly #timers = new Set<{ readonly due: number; arm(): void }>();
  readonly #deferred: (() => void)[] = [];
  #frozen: 'paused' | 'suspended' | undefined;
  #frozenAt = 0;
  #standstill = 0;
  /** What this machine's wall clock shows beyond the world's. */
  wallOffsetMs: number;

  constructor(world: VirtualClock, wallOffsetMs = 0) {
    this.#world = world;
    this.wallOffsetMs = wallOffsetMs;
  }

  get isFrozen(): boolean {
    return this.#frozen !== undefined;
  }

  now(): number {
    return this.#world.now() + this.wallOffsetMs;
  }

  monotonic(): number {
    const now = this.#frozen === 'suspended' ? this.#frozenAt : this.#world.monotonic();
    return now - this.#standstill;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const due = this.monotonic() + Math.max(0, delayMs);
    let timer: Timer | undefined;
    const entry = {
      due,
      arm: () => {
        timer?.cancel();
        timer = this.#world.setTimer(due - this.monotonic(), () => {
          if (this.isFrozen) return;
          this.#timers.delete(entry);
          callback();
        });
      },
    };
    this.#timers.add(entry);
    entry.arm();
    const cancel = (): void => {
      this.#timers.delete(entry);
      timer?.cancel();
    };
    return { cancel, [Symbol.dispose]: cancel };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  freeze(how: 'paused' | 'suspended'): void {
    if (this.isFrozen) return;
    this.#frozenAt = this.#world.monotonic();
    this.#frozen = how;
  }

  /** thaw goes on: what fell due meanwhile runs now, in its order, answers that came meanwhile first. */
  thaw(): void {
    if (this.#frozen === 'suspended') this.#standstill += this.#world.monotonic() - this.#frozenAt;
    this.#frozen = undefined;
    for (const run of this.#deferred.splice(0)) run();
    for (const entry of [...this.#timers].sort((a, b) => a.due - b.due)) entry.arm();
  }

  /** deliver runs a callback from outside as soon as the process is able to. */
  deliver(run: () => void): void {
    if (this.isFrozen) this.#deferred.push(run);
    else run();
  }
}

/** Link is the network between one process and the API. */
export interface Link {
  /** The largest delay of a message one way. */
  latencyMs: number;
  /** Chance that a message is lost, either way. */
  loss: number;
  /** Lose every answer while requests still arrive. Defaults to false. */
  loseAnswers?: boolean;
  /** The exact delay of an answer. Defaults to one within latencyMs. */
  answerLatencyMs?: number;
}

/** leaseClient is a LeaseClient of the simulated API over a link that delays and loses messages. */
export function leaseClient(
  api: LeaseApi,
  world: VirtualClock,
  process: SimulatedProcess,
  random: Random,
  link: Link,
  name: string,
  guard?: WriteGuard,
): LeaseClient {
  function call<T>(options: RequestOptions | undefined, isWrite: boolean, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        timer.cancel();
        options?.signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const timer = process.setTimer(options?.timeoutMs ?? 30_000, () =>
        finish(() => reject(new BowlineError('BOWLINE_TRANSPORT_TIMEOUT', 'the simulated API did not answer'))),
      );
      const onAbort = (): void => finish(() => reject(options?.signal?.reason));
      options?.signal?.addEventListener('abort', onAbort, { once: true });
      try {
        if (isWrite) guard?.assertMayWrite();
      } catch (error) {
        finish(() => reject(error));
        return;
      }
      if (random.next() < link.loss) return;
      world.setTimer(between(random, 0, link.latencyMs), () => {
        let outcome: () => void;
        try {
          const value = act();
          outcome = () => resolve(value);
        } catch (error) {
          outcome = () => reject(error);
        }
        if (random.next() < link.loss || link.loseAnswers) return;
        const delayMs = link.answerLatencyMs ?? between(random, 0, link.latencyMs);
        world.setTimer(delayMs, () => process.deliver(() => finish(outcome)));
      });
    });
  }
  return {
    find: (_resource: Resource<Lease>, _key: ObjectKey, options) => call(options, false, () => api.get()),
    create: (_resource, lease, options) => call(options, true, () => api.create(name, lease)),
    update: (_resource, lease, options) => call(options, true, () => api.update(name, lease)),
    guarded: (next) => leaseClient(api, world, process, random, link, name, next),
  };
}
