import { Lease, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { between, type Clock, type Random, sleepOn, type Timer, type VirtualClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { ApiError, type RequestOptions, type WriteGuard } from '@bowline/runtime/client';
import type { LeaseClient } from '@bowline/runtime/manager';

/** Commit is one write stored by the simulated API. */
export interface Commit {
  /** The time of the simulation. */
  readonly at: number;
  readonly by: string;
  readonly holder: string;
  readonly transitions: number;
}

/** LeaseApi stores one Lease like the API server: with optimistic locking on resourceVersion. */
export class LeaseApi {
  lease: Lease | undefined;
  readonly commits: Commit[] = [];
  /** Called after each stored write, before its response is sent. */
  onStore: (commit: Commit) => void = () => {};
  /** Returns this status instead of doing anything. */
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

  /** edit changes the Lease without the electors' knowledge. */
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
 * SimulatedProcess is a separate machine on the virtual clock of the simulation: its wall clock has an offset, and it
 * can be paused (nothing runs but its monotonic clock continues, as with SIGSTOP) or suspended (its monotonic clock
 * stops too).
 */
export class SimulatedProcess implements Clock {
  readonly #world: VirtualClock;
  readonly #timers = new Set<{ readonly due: number; arm(): void }>();
  readonly #deferred: (() => void)[] = [];
  #frozen: 'paused' | 'suspended' | undefined;
  #frozenAt = 0;
  #standstill = 0;
  /** The offset of this machine's wall clock to the simulation's. */
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

  /** thaw resumes: what became due meanwhile runs now, in order, after responses that arrived meanwhile. */
  thaw(): void {
    if (this.#frozen === 'suspended') this.#standstill += this.#world.monotonic() - this.#frozenAt;
    this.#frozen = undefined;
    for (const run of this.#deferred.splice(0)) run();
    for (const entry of [...this.#timers].sort((a, b) => a.due - b.due)) entry.arm();
  }

  /** deliver runs an external callback as soon as the process is able to. */
  deliver(run: () => void): void {
    if (this.isFrozen) this.#deferred.push(run);
    else run();
  }
}

/** Link is the network between one process and the API. */
export interface Link {
  /** The maximum delay of a message in one direction. */
  latencyMs: number;
  /** The probability that a message is lost, in either direction. */
  loss: number;
  /** Loses every response while requests still arrive. Defaults to false. */
  loseResponses?: boolean;
  /** The exact delay of a response. Defaults to a random one within latencyMs. */
  responseLatencyMs?: number;
}

/** leaseClient returns a LeaseClient of the simulated API over a link that delays and loses messages. */
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
        finish(() => reject(new BowlineError('BOWLINE_TRANSPORT_TIMEOUT', 'the simulated API did not respond'))),
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
        if (random.next() < link.loss || link.loseResponses) return;
        const delayMs = link.responseLatencyMs ?? between(random, 0, link.latencyMs);
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
