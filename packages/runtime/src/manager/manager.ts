import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { between, type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import type { ControllerState } from '../controller/controller-runner.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { createMetrics, type MetricsRegistry } from '../observability/create-metrics.ts';
import { EventLoopMonitor } from '../observability/event-loop-monitor.ts';
import { type Log, silentLog } from '../observability/log.ts';
import type { HealthReport } from '../operations/health.ts';
import { type OperationsServer, startOperationsServer } from '../operations/operations-server.ts';
import type { Operator } from '../operator/operator.ts';
import { withConfig } from '../operator/with-config.ts';
import { withinNamespaces } from '../operator/within-namespaces.ts';
import type { QueueEntry } from '../queue/queue-options.ts';
import { WebhookServers } from '../webhook/webhook-servers.ts';
import { readinessChecks, startupChecks } from './manager-health.ts';
import type { ManagerOptions } from './manager-options.ts';
import { OperatorRunner, type OperatorState } from './operator-runner.ts';
import type { ServiceState } from './service-runner.ts';
import { describeInformer, WatchLiveness } from './watch-liveness.ts';

/** The maximum fraction of time that the event loop may be late before the process should be restarted. */
const MAX_STARVED_FRACTION = 0.5;

/** OperatorStatus is the state of an operator, for display. */
export interface OperatorStatus {
  readonly name: string;
  readonly state: OperatorState;
  /** The current leader, as far as known. */
  readonly holder: string | undefined;
  readonly controllers: readonly ControllerStatus[];
  /** The port of its webhooks; undefined while they are not served. */
  readonly webhookPort: number | undefined;
  readonly services: readonly ServiceStatus[];
}

/** ServiceStatus is the state of a service, for display. */
export interface ServiceStatus {
  readonly name: string;
  readonly state: ServiceState;
  /** The port that it reports; undefined while it listens on none. */
  readonly port: number | undefined;
}

/** ControllerStatus is the state of a controller, for display. */
export interface ControllerStatus {
  readonly name: string;
  readonly state: ControllerState;
  /** The kinds it waits for, each with the reason. */
  readonly waitsFor: readonly string[];
  /** The optional kinds that are not served at the moment. */
  readonly worksWithout: readonly string[];
  /** The keys that wait, run or are blocked; at most 100. */
  readonly keys: readonly QueueEntry[];
  readonly overdueKeys: readonly string[];
  readonly pausedKeys: readonly string[];
}

/**
 * Manager runs operators in one process: caches from the start, controllers while the operator's Lease is held, probes
 * and metrics throughout.
 *
 * @example
 * const manager = new Manager({ operators: [copy], clientFor: () => client, log: createLog() });
 * await runUntilSignal((signal) => manager.run(signal));
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #wire: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #metrics: MetricsRegistry;
  #operators: readonly OperatorRunner[] = [];
  #server: OperationsServer | undefined;
  #hasRun = false;
  #stopping = false;
  #hasSyncTimedOut = false;

  constructor(options: ManagerOptions) {
    checkOperators(options);
    const { operators, namespaces } = options;
    this.#options = { ...options, operators: operators.map((operator) => withinNamespaces(operator, namespaces)) };
    this.#clock = options.clock ?? systemClock;
    this.#wire = options.wire ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log ?? silentLog;
    this.#metrics = options.metrics ?? createMetrics();
  }

  /** The ports of probes and metrics while the manager runs. */
  get ports(): { readonly health: number | undefined; readonly metrics: number | undefined } {
    return { health: this.#server?.healthPort, metrics: this.#server?.metricsPort };
  }

  /** status returns what every operator and controller is doing. */
  status(): readonly OperatorStatus[] {
    return this.#operators.map((runner) => ({
      name: runner.operator.name,
      state: runner.state,
      holder: runner.holder(),
      webhookPort: runner.webhooks?.port,
      services: runner.services.map(({ service, state, port }) => ({ name: service.name, state, port })),
      controllers: runner.controllers.map((controller) => ({
        name: controller.controller.name,
        state: controller.state,
        waitsFor: controller
          .unsynced()
          .map((health) => `${describeInformer(health)}: ${health.reason ?? health.state}`),
        worksWithout: controller.notServed().map(describeInformer),
        keys: controller.entries(100),
        overdueKeys: controller.overdueKeys(),
        pausedKeys: controller.pausedKeys(),
      })),
    }));
  }

  /**
   * run works until the signal is aborted: then it starts no further key, lets running reconciles end, releases the
   * Leases and resolves. When a Lease is lost it stops that operator immediately, drains and releases the others, and
   * rejects with BOWLINE_LEADERSHIP_LOST: the process should exit. In all cases nothing is left running.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#hasRun)
      throw new BowlineError('BOWLINE_MANAGER_RUNS_ONCE', 'cannot run a manager twice; create a new one');
    this.#hasRun = true;
    const shutdown = new AbortController();
    const failed = new AbortController();
    const stop = AbortSignal.any([signal, failed.signal]);
    setMaxListeners(0, stop);
    stop.addEventListener('abort', () => {
      this.#stopping = true;
    });
    using loop = new EventLoopMonitor({ wire: this.#wire, metrics: this.#metrics });
    using watches = new WatchLiveness({
      wire: this.#wire,
      health: () => this.#operators.flatMap((operator) => operator.health()),
      deadAfterMs: this.#options.deadWatchAfterMs ?? 300_000,
    });
    const server = await this.#serve(shutdown.signal, loop, watches);
    this.#server = server;
    using _syncTimer = this.#wire.setTimer(this.#options.cacheSyncTimeoutMs ?? 120_000, () => this.#syncTimedOut());
    try {
      this.#operators = await this.#prepare(loop);
      await Promise.all(this.#runAll(this.#operators, stop, failed));
    } finally {
      shutdown.abort();
      await server.stopped;
    }
    if (failed.signal.aborted) throw failed.signal.reason;
  }

  /** An operator that fails stops the others; the webhooks of all are served until the last of them has drained. */
  #runAll(operators: readonly OperatorRunner[], stop: AbortSignal, failed: AbortController): Promise<void>[] {
    const allDrained = new AbortController();
    const busy = new Set(operators);
    return operators.map((runner) => {
      let reported: unknown;
      const drained = (failure: unknown): void => {
        if (failure !== reported) {
          reported = failure;
          this.#log.error('operator failed, stopping the others', { operator: runner.operator.name, error: failure });
          // The first failure is the reason; the others follow from it.
          failed.abort(failure);
        }
        busy.delete(runner);
        if (busy.size === 0) allDrained.abort();
      };
      return runner.run(stop, { webhooksUntil: allDrained.signal, drained }).then(() => drained(reported), drained);
    });
  }

  #serve(signal: AbortSignal, loop: EventLoopMonitor, watches: WatchLiveness): Promise<OperationsServer> {
    const { healthAddress, metricsAddress, metricsSecurity } = this.#options;
    return startOperationsServer({
      ...(healthAddress === undefined ? {} : { healthAddress }),
      ...(metricsAddress === undefined ? {} : { metricsAddress }),
      live: () => live(loop, watches),
      ready: () => this.#ready(),
      started: () => ({ checks: startupChecks(this.#operators) }),
      metrics: this.#metrics,
      metricsSecurity,
      wire: this.#wire,
      log: this.#log,
      signal,
    });
  }

  async #prepare(loop: EventLoopMonitor): Promise<readonly OperatorRunner[]> {
    const { operators, clientFor, config = {}, leaderElection = {} } = this.#options;
    const namespace = this.#options.namespace ?? systemNamespaceOf(operators);
    const suffix = Math.floor(between(this.#random, 36 ** 7, 36 ** 8)).toString(36);
    const election = leaderElection === false ? undefined : leaderElection;
    const identity = election?.identity ?? `${hostname()}_${suffix}`;
    const webhookServers = new WebhookServers({ wire: this.#wire, log: this.#log });
    return await Promise.all(
      operators.map(async (declared) => {
        const section = config[declared.name];
        const operator = await withConfig(declared, section);
        return new OperatorRunner(operator, {
          client: await clientFor(operator),
          instance: identity,
          config: section,
          installName: this.#options.installNameFor?.(operator),
          webhooks: this.#options.webhooksFor?.(operator) ?? {},
          webhookServers,
          namespace,
          namespaces: this.#options.namespaces,
          image: this.#options.image,
          scratchFolder: this.#options.scratchFolder,
          clock: this.#clock,
          wire: this.#wire,
          random: this.#random,
          log: this.#log,
          metrics: this.#metrics,
          drainTimeoutMs: this.#options.drainTimeoutMs ?? 30_000,
          election: election && { ...election, identity, lag: loop },
        });
      }),
    );
  }

  #ready(): HealthReport {
    return {
      checks: readinessChecks({
        operators: this.#operators,
        stopping: this.#stopping,
        hasSyncTimedOut: this.#hasSyncTimedOut,
      }),
    };
  }

  #syncTimedOut(): void {
    this.#hasSyncTimedOut = true;
    for (const { operator, controllers } of this.#operators) {
      for (const controller of controllers) {
        const waiting = controller.unsynced();
        if (waiting.length === 0) continue;
        this.#log.warn('controller is still waiting for its caches to sync; it starts when they have synced', {
          operator: operator.name,
          controller: controller.controller.name,
          waitsFor: waiting.map((health) => `${describeInformer(health)}: ${health.reason ?? health.state}`),
        });
      }
    }
  }
}

function live(loop: EventLoopMonitor, watches: WatchLiveness): HealthReport {
  const fraction = loop.starvedFraction();
  const late = `late for ${Math.round(fraction * 100)} % of the time, longest ${Math.round(loop.lagMs())} ms`;
  return { checks: [{ name: 'event-loop', ok: fraction < MAX_STARVED_FRACTION, message: late }, watches.check()] };
}

function systemNamespaceOf(operators: readonly Operator[]): string {
  const [first = '', ...others] = new Set(operators.map((operator) => operatorIdentity(operator).systemNamespace));
  if (others.length === 0) return first;
  throw new BowlineError(
    'BOWLINE_MANAGER_INVALID',
    `cannot create a manager: its operators have different domains, so there is no default namespace for its Leases; set namespace, for example to ${first}`,
  );
}

function checkOperators({ operators }: ManagerOptions): void {
  const refuse = (problem: string): never => {
    throw new BowlineError('BOWLINE_MANAGER_INVALID', `cannot create a manager: ${problem}`);
  };
  if (operators.length === 0) refuse('it has no operators');
  const names = new Set<string>();
  const owners = new Map<string, string>();
  for (const { name, controllers } of operators) {
    if (names.has(name)) refuse(`two operators are named "${name}"`);
    names.add(name);
    for (const controller of controllers) {
      const other = owners.get(controller.name);
      if (other) {
        refuse(
          `the operators "${other}" and "${name}" both have a controller "${controller.name}", so their metrics would mix; rename one`,
        );
      }
      owners.set(controller.name, name);
    }
  }
}
