import { setMaxListeners } from 'node:events';
import { type Clock, type Random, untilAborted } from '@bowline/machinery';
import { Cache } from '../cache/cache.ts';
import type { InformerHealth } from '../cache/health.ts';
import type { Client } from '../client/client.ts';
import { type ControllerCache, ControllerRunner } from '../controller/controller-runner.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { LeaderElector, type LeaderElectorOptions } from '../leader-election/leader-elector.ts';
import type { Leadership } from '../leader-election/leadership.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { declaredPermissions } from '../operator/declared-permissions.ts';
import type { Operator } from '../operator/operator.ts';
import { readConfig } from '../operator/operator-config.ts';
import { type OpenScratchFolder, openScratchFolder } from '../operator/scratch-folder.ts';
import { withOwnNames } from '../operator/with-own-names.ts';
import { resolveOwnName } from '../permissions/own-names.ts';
import { restrictedClient } from '../permissions/restricted-client.ts';
import { startWebhooks } from '../webhook/start-webhooks.ts';
import type { WebhookServers } from '../webhook/webhook-servers.ts';
import type { RunningWebhooks } from '../webhook/webhooks-options.ts';
import { LeadershipGuard } from './leadership-guard.ts';
import type { WebhookServing } from './manager-options.ts';
import { serviceInformers } from './service-informers.ts';
import { ServiceRunner } from './service-runner.ts';

/** OperatorRunnerOptions configures the environment an operator runs in. */
export interface OperatorRunnerOptions {
  /** The client with the operator's own identity; it is restricted to what the operator declares. */
  readonly client: Client;
  /** The identity of this process, for events. */
  readonly instance: string;
  /** Its section of the configuration. */
  readonly config: unknown;
  readonly namespace: string;
  /** Undefined for the whole cluster. The operator is already restricted to them. */
  readonly namespaces: readonly string[] | undefined;
  /** Undefined if the process does not run from an image. */
  readonly image: string | undefined;
  /** The folder that its scratch folder is created in. Undefined for a temporary one. */
  readonly scratchFolder: string | undefined;
  readonly clock: Clock;
  readonly wire: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly drainTimeoutMs: number;
  /** The name of the operator's install. Defaults to `<vendor>-<operator>`. */
  readonly installName: string | undefined;
  readonly webhooks: WebhookServing;
  /** The listeners shared by the operators of the process. */
  readonly webhookServers: WebhookServers;
  /** Undefined to work without a Lease. */
  readonly election: (Pick<LeaderElectorOptions, 'identity' | 'lag'> & Partial<LeaderElectorOptions>) | undefined;
}

/** OperatorRun connects an operator to the others of its process. */
export interface OperatorRun {
  /** Stops the webhooks: they are served as long as any operator of the process is draining. */
  readonly webhooksUntil: AbortSignal;
  /** Called once when the operator has drained, with the reason if it failed. */
  drained(failure: unknown): void;
}

/** How long controllers wait for the webhooks. */
const ANNOUNCE_TIMEOUT_MS = 5_000;

/** OperatorState is the state of an operator. */
export type OperatorState = 'setting-up' | 'standby' | 'leading' | 'draining' | 'stopped';

/** OperatorRunner runs one operator: its cache from the start, its controllers while it leads. */
export class OperatorRunner {
  readonly operator: Operator;
  readonly controllers: readonly ControllerRunner[];
  readonly services: readonly ServiceRunner[];
  readonly #options: OperatorRunnerOptions;
  readonly #cache: Cache;
  readonly #elector: LeaderElector | undefined;
  readonly #guard: LeadershipGuard;
  readonly #client: Client;
  /** Webhooks, and services of every replica, do not wait for leadership. */
  readonly #unguarded: Client;
  #webhooks: RunningWebhooks | undefined;
  #scratchFolder: OpenScratchFolder | undefined;
  #state: OperatorState = 'setting-up';

  constructor(declared: Operator, options: OperatorRunnerOptions) {
    const { clock, wire, random, metrics, election, instance, namespace, installName } = options;
    const operator = withOwnNames(declared, installName);
    const identity = operatorIdentity(operator);
    const owning = options.client.withFieldManager(identity.fieldManagers.operator);
    const client = restrictedClient(owning, declaredPermissions(operator, { ...options.webhooks, installName }), {
      operator: operator.name,
      namespace,
    });
    const log = options.log.with({ operator: operator.name });
    this.operator = operator;
    this.#options = { ...options, log };
    this.#guard = new LeadershipGuard(operator.name);
    this.#unguarded = client;
    this.#client = election ? client.guarded(this.#guard) : client;
    const pausedAnnotation = identity.annotations.paused;
    this.#cache = new Cache({ client, clock, wire, random, log, metrics, name: operator.name, pausedAnnotation });
    // The cache's own signature ties views to kinds; a complete declaration keeps them consistent, but their types are
    // erased.
    const cache = this.#cache as unknown as ControllerCache;
    this.controllers = operator.controllers.map(
      (controller) =>
        new ControllerRunner(controller, {
          identity,
          instance,
          cache,
          clock,
          random,
          log,
          metrics,
        }),
    );
    const informer = serviceInformers(operator, {
      cache: this.#cache,
      installName: installName ?? identity.objectName,
    });
    this.services = operator.services.map((service) => {
      const running = { operator: operator.name, informer, clock, random, log };
      return new ServiceRunner(service, { ...running, client: service.leaderOnly ? this.#client : this.#unguarded });
    });
    if (election) {
      const lease = { namespace: options.namespace, name: identity.objectName };
      this.#elector = new LeaderElector({
        client: client.onLeaseLane(),
        lease,
        fieldManager: identity.fieldManagers.leaderElection,
        wire,
        random,
        log,
        metrics,
        ...election,
      });
    }
  }

  get state(): OperatorState {
    return this.#state;
  }

  /** The running webhooks; undefined while they are not served. */
  get webhooks(): RunningWebhooks | undefined {
    return this.#webhooks;
  }

  /** holder returns the current leader, as far as known; undefined without election. */
  holder(): string | undefined {
    return this.#elector?.holder();
  }

  /** leaseProblem returns why the Lease cannot be read or written at the moment. */
  leaseProblem(): BowlineError | undefined {
    return this.#elector?.problem();
  }

  health(): readonly InformerHealth[] {
    return this.#cache.health();
  }

  /**
   * run works until the signal is aborted, drains, releases the Lease, serves its webhooks until the others have
   * drained too, and resolves. It rejects when the Lease is lost, when setup fails, or when a part ends unexpectedly;
   * everything has stopped then as well.
   */
  async run(signal: AbortSignal, others: OperatorRun): Promise<void> {
    const { log } = this.#options;
    // Stops what must outlive the drain: the cache that reconciles read, and what setup opened.
    const shutdown = new AbortController();
    // Stops everything when a part fails.
    const failed = new AbortController();
    const stop = AbortSignal.any([signal, failed.signal]);
    // Every informer, service and controller adds a listener; Node reports more than ten as a leak.
    setMaxListeners(0, shutdown.signal, stop);
    const cache = this.#cache.run(shutdown.signal).catch((error: unknown) => failed.abort(error));
    const opening = this.#openScratchFolder();
    const setup = opening.then(() => this.#setUp(shutdown.signal));
    try {
      const ready = await Promise.race([setup.then((deps) => ({ deps })), untilAborted(stop)]);
      if (ready) await this.#runReady(stop, failed, ready.deps, others);
    } finally {
      this.#state = 'stopped';
      shutdown.abort(new BowlineError('BOWLINE_OPERATOR_STOPPED', `the operator ${this.operator.name} has stopped`));
      // Only when stopped during setup: its result no longer matters.
      setup.catch(() => undefined);
      await cache;
      for (const controller of this.controllers) controller[Symbol.dispose]();
      await opening.catch(() => undefined);
      await this.#removeScratchFolder();
      log.info('operator stopped');
    }
    if (failed.signal.aborted) throw failed.signal.reason;
  }

  async #runReady(stop: AbortSignal, failed: AbortController, deps: unknown, others: OperatorRun): Promise<void> {
    const { drainTimeoutMs, clock } = this.#options;
    const replicaServices = this.#runServices(stop, deps, false);
    const starting = this.#startWebhooks(others.webhooksUntil, deps);
    const webhooks = starting
      .then((running) => running?.stopped)
      .catch((error: unknown) => {
        if (!others.webhooksUntil.aborted) failed.abort(error);
      });
    await this.#untilAnnounced(starting, stop);
    // A lost Lease must not leave the services running.
    await this.#lead(stop, deps).catch((error: unknown) => failed.abort(error));
    await withTimeout(replicaServices, drainTimeoutMs, clock);
    others.drained(failed.signal.reason);
    await webhooks;
  }

  async #startWebhooks(signal: AbortSignal, deps: unknown): Promise<RunningWebhooks | undefined> {
    const { name, domain, webhooks, resources } = this.operator;
    if (webhooks.length === 0) return undefined;
    const { namespace, clock, wire, random, log, metrics, webhooks: serving, webhookServers } = this.#options;
    this.#webhooks = await startWebhooks({
      ...serving,
      operator: name,
      domain,
      webhooks,
      configurationName: this.#options.installName,
      ownKinds: resources,
      namespace,
      client: this.#unguarded,
      cache: this.#cache,
      deps,
      clock,
      wire,
      random,
      log,
      metrics,
      signal,
      servers: webhookServers,
    });
    return this.#webhooks;
  }

  /**
   * Waits until API servers call the webhooks, because a reconcile may rely on them. The wait is bounded: an operator
   * that cannot serve webhooks, for example because a permission is missing, still reconciles existing objects.
   */
  async #untilAnnounced(starting: Promise<RunningWebhooks | undefined>, stop: AbortSignal): Promise<void> {
    const { wire, log } = this.#options;
    const timeout = new AbortController();
    const limit = AbortSignal.any([stop, timeout.signal]);
    const announced = starting.then((running) => running?.announced(limit));
    const isLate = await Promise.race([
      announced.then(
        () => false,
        () => false,
      ),
      wire.sleep(ANNOUNCE_TIMEOUT_MS, limit).then(
        () => true,
        () => false,
      ),
    ]);
    timeout.abort();
    if (isLate) log.warn('webhooks are not called yet; starting the controllers without them');
  }

  async #setUp(signal: AbortSignal): Promise<unknown> {
    const { clock, random, log, metrics, namespace, namespaces, image } = this.#options;
    const { setup, config, name } = this.operator;
    const { installName = operatorIdentity(this.operator).objectName } = this.#options;
    try {
      const parsed = await readConfig(name, config, this.#options.config);
      // The values are those that defineOperator checked setup against; the types were erased there.
      return await setup?.({
        config: parsed as never,
        client: this.#client,
        namespace,
        namespaces,
        image,
        scratchFolder: () => this.#scratchPath(),
        nameOf: (companion) => resolveOwnName(companion.name, installName),
        clock,
        random,
        log,
        metrics,
        signal,
      });
    } catch (cause) {
      throw new BowlineError(
        'BOWLINE_OPERATOR_SETUP',
        `cannot set up the operator ${name}: ${cause instanceof Error ? cause.message : 'its setup failed'}`,
        { cause },
      );
    } finally {
      this.#state = 'standby';
    }
  }

  async #lead(signal: AbortSignal, deps: unknown): Promise<void> {
    if (!this.#elector) {
      await this.#work(signal, deps, undefined);
      return;
    }
    let leadership: Leadership;
    try {
      leadership = await this.#elector.acquire(signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#guard.lead(leadership);
    try {
      await this.#work(signal, deps, leadership.lost);
    } finally {
      // After the drain, so that the next holder need not wait and no write of ours follows its first.
      await leadership.release();
    }
    leadership.lost.throwIfAborted();
  }

  /** Resolves when the controllers have drained, or immediately when the Lease is lost. */
  async #work(signal: AbortSignal, deps: unknown, lost: AbortSignal | undefined): Promise<void> {
    const { drainTimeoutMs } = this.#options;
    this.#state = 'leading';
    const failed = new AbortController();
    const end = AbortSignal.any([signal, failed.signal, ...(lost ? [lost] : [])]);
    setMaxListeners(0, end, ...(lost ? [lost] : []));
    end.addEventListener('abort', () => {
      this.#state = 'draining';
    });
    const run = { client: this.#client, deps, drainMs: drainTimeoutMs, lost };
    const services = this.#runServices(end, deps, true);
    const controllers = this.controllers.map((controller) =>
      // A controller survives failures of its reconciles; if it fails nevertheless, nothing must continue without it.
      controller.run(end, run).catch((error: unknown) => failed.abort(error)),
    );
    await Promise.all([...controllers, untilAborted(end)]);
    // The Lease is not held longer for a service that does not end: its writes are refused from then on.
    await withTimeout(services, lost?.aborted ? 0 : drainTimeoutMs, this.#options.clock);
    if (failed.signal.aborted) throw failed.signal.reason;
  }

  async #runServices(signal: AbortSignal, deps: unknown, leaderOnly: boolean): Promise<void> {
    const chosen = this.services.filter(({ service }) => (service.leaderOnly ?? false) === leaderOnly);
    await Promise.all(chosen.map((service) => service.run(signal, deps)));
  }

  async #openScratchFolder(): Promise<void> {
    const { name, scratchFolder } = this.operator;
    if (scratchFolder) this.#scratchFolder = await openScratchFolder(name, this.#options.scratchFolder);
  }

  #scratchPath(): string {
    if (this.#scratchFolder) return this.#scratchFolder.path;
    throw new BowlineError(
      'BOWLINE_SCRATCH_FOLDER',
      `the operator ${this.operator.name} has no scratch folder: declare scratchFolder with its size limit in defineOperator`,
    );
  }

  async #removeScratchFolder(): Promise<void> {
    try {
      await this.#scratchFolder?.remove();
    } catch (error) {
      this.#options.log.warn('cannot remove the scratch folder', { error });
    }
  }
}

async function withTimeout(promise: Promise<void>, timeoutMs: number, clock: Clock): Promise<void> {
  const timeout = new AbortController();
  await Promise.race([promise, clock.sleep(timeoutMs, timeout.signal).catch(() => undefined)]);
  timeout.abort();
}
