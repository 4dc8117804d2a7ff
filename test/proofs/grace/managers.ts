import type { EmbeddedControlPlane } from '@bowline/control-plane';
import { type Random, seededRandom, type VirtualClock } from '@bowline/machinery';
import { type Client, createClient } from '@bowline/runtime/client';
import { Manager } from '@bowline/runtime/manager';
import { hsmSecrets } from '../../../operators/hsm-secrets/src/operator.ts';
import { FaultyTransport, type WatchEnd } from './faulty-transport.ts';

/** ManagersOptions configures the managers of a case. */
export interface ManagersOptions {
  readonly controlPlane: Pick<EmbeddedControlPlane, 'transport'>;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** The namespace of the Lease and of the certificate authority. */
  readonly namespace: string;
  /** The operator's section of the configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Whether managers wait for the Lease; otherwise there is at most one. */
  readonly isElected: boolean;
}

interface RunningManager {
  readonly manager: Manager;
  readonly transport: FaultyTransport;
  readonly client: Client;
  readonly end: AbortController;
  readonly stopped: Promise<void>;
  /** The number of its watches when it was last complete. */
  watches: number;
  /** Since when it has led without any interruption; undefined if it does not. */
  healthySince: number | undefined;
  isLeading: boolean;
  /** Whether it is starting, which takes work that no request shows, such as parsing certificates. */
  isStarting: boolean;
}

/** Turns of the event loop without any work after which nothing is left to do: nothing here waits for the network. */
const QUIET_TURNS = 8;
const MAX_TURNS = 100_000;

/** Managers are the replicas of the operator, all in this process, each with a connection of its own. */
export class Managers {
  readonly #options: ManagersOptions;
  #running: RunningManager[] = [];
  readonly #ending: Promise<void>[] = [];

  constructor(options: ManagersOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#running.length;
  }

  get hasOutage(): boolean {
    return this.#running.some(({ transport }) => transport.isDown);
  }

  /** healthySince returns since when a manager has led without interruption; undefined if none does now. */
  get healthySince(): number | undefined {
    return this.#running.find(({ healthySince }) => healthySince !== undefined)?.healthySince;
  }

  /** start adds a manager. */
  async start(): Promise<void> {
    const { controlPlane, clock, random, namespace, config, isElected } = this.#options;
    const transport = new FaultyTransport(await controlPlane.transport('admin'), clock);
    const client = createClient({ transport, clock, wire: clock, random, component: 'grace' });
    const manager = new Manager({
      operators: [hsmSecrets],
      clientFor: () => client,
      config: { [hsmSecrets.name]: config },
      namespace,
      leaderElection: isElected ? {} : false,
      clock,
      wire: clock,
      random: seededRandom(Math.floor(random.next() * 2 ** 32)),
      healthAddress: '0',
      metricsAddress: '0',
      drainTimeoutMs: 100,
    });
    const end = new AbortController();
    const stopped = manager.run(end.signal);
    const started = { manager, transport, client, end, stopped };
    const one: RunningManager = { ...started, watches: 0, healthySince: undefined, isLeading: false, isStarting: true };
    this.#running.push(one);
    // A process that loses its Lease may exit.
    stopped.then(
      () => this.#remove(one),
      () => this.#remove(one),
    );
  }

  /** stop ends the leader, or the only manager, as on SIGTERM. */
  async stop(): Promise<void> {
    const [one] = this.#leaderFirst();
    if (!one) return;
    // A process that cannot reach the API server is not stopped gracefully either.
    if (one.transport.isDown) return this.kill();
    this.#remove(one);
    one.end.abort();
    this.#ending.push(one.stopped);
    await this.#untilDone(one.stopped);
    await one.client.close();
  }

  /** kill ends the leader, or the only manager, without another request. */
  kill(): void {
    const [one] = this.#leaderFirst();
    if (!one) return;
    this.#remove(one);
    one.transport.goDown();
    one.end.abort();
    this.#ending.push(one.stopped.catch(() => undefined));
  }

  /** cutWatches ends the watches of all managers. */
  cutWatches(end: WatchEnd): void {
    for (const one of this.#running) {
      one.transport.cutWatches(end);
      // It continues only after a delay.
      one.isStarting = false;
    }
  }

  /** beginOutage cuts the leader, or the only manager, off from the API server. */
  beginOutage(): void {
    this.#leaderFirst()[0]?.transport.goDown();
  }

  endOutage(): void {
    for (const { transport } of this.#running) transport.comeUp();
  }

  /** settle waits until no manager has anything to do at this moment, and returns whether one began to lead. */
  async settle(): Promise<boolean> {
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      quiet = this.#running.every(isQuiet) ? quiet + 1 : 0;
      if (turns > MAX_TURNS) throw new Error(`the managers are not idle: ${this.#describe()}`);
    }
    let hasNewLeader = false;
    for (const one of this.#running) {
      const status = one.manager.status();
      const isLeading = status.length > 0 && status.every(({ state }) => state === 'leading');
      const controllers = isLeading ? status.flatMap((each) => each.controllers) : [];
      const aggregates = controllers.some(({ name, state }) => name === 'pool' && state === 'running');
      hasNewLeader ||= aggregates && !one.isLeading;
      one.isLeading = aggregates;
      one.isStarting &&= !aggregates;
      one.watches = Math.max(one.watches, one.transport.openWatches);
      const isComplete = !one.transport.isDown && one.transport.openWatches === one.watches;
      const isRunning = aggregates && controllers.every(({ state }) => state === 'running');
      const isHealthy = isRunning && isComplete && !hasFailures(one);
      one.healthySince = isHealthy ? (one.healthySince ?? this.#options.clock.now()) : undefined;
    }
    return hasNewLeader;
  }

  /** interrupt makes the current lead count as interrupted, although it may already have recovered. */
  interrupt(): void {
    for (const one of this.#running) one.healthySince = undefined;
  }

  /** stopAll ends all managers, and waits until they have. */
  async stopAll(): Promise<void> {
    this.endOutage();
    while (this.#running.length > 0) this.kill();
    for (const ending of this.#ending) await this.#untilDone(ending);
  }

  #leaderFirst(): readonly RunningManager[] {
    return this.#running.toSorted((a, b) => Number(b.isLeading) - Number(a.isLeading));
  }

  #remove(one: RunningManager): void {
    this.#running = this.#running.filter((each) => each !== one);
  }

  /** Managers wait for timers while they stop. */
  async #untilDone(ending: Promise<void>): Promise<void> {
    let isDone = false;
    const done = ending.then(
      () => undefined,
      () => undefined,
    );
    void done.then(() => {
      isDone = true;
    });
    for (let turns = 0; !isDone; turns += 1) {
      if (turns > MAX_TURNS) throw new Error('a manager does not stop');
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (turns > 0 && turns % 1_000 === 0) await this.#options.clock.advance(100);
    }
    await done;
  }

  #describe(): string {
    return JSON.stringify(
      this.#running.map(({ manager, transport }) => ({ inFlight: transport.inFlight, status: manager.status() })),
    );
  }
}

/** A key that failed during an outage is retried some time after it. */
function hasFailures({ manager }: RunningManager): boolean {
  return manager
    .status()
    .some(({ controllers }) => controllers.some(({ keys }) => keys.some(({ failures }) => failures > 0)));
}

function isQuiet({ manager, transport, isStarting }: RunningManager): boolean {
  if (transport.inFlight > 0) return false;
  const status = manager.status();
  if (isStarting && !transport.isDown && !status.some(hasStarted)) return false;
  return (
    status.length > 0 &&
    status.every(({ controllers }) => controllers.every(({ keys }) => keys.every(({ state }) => state === 'delayed')))
  );
}

function hasStarted({ state, controllers }: ReturnType<Manager['status']>[number]): boolean {
  return state === 'standby' || (state === 'leading' && controllers.every((each) => each.state === 'running'));
}
