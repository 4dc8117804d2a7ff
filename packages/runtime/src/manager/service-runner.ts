import { between, type Clock, type Random } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';
import type { HealthCheck } from '../operations/health.ts';
import type { DeclaredService, ServiceContext, ServiceReadiness } from '../operator/service.ts';

/** ServiceRunnerOptions configures how a service runs. */
export interface ServiceRunnerOptions {
  readonly operator: string;
  /** The client of its context. */
  readonly client: Client;
  /** The informers of its context. */
  readonly informer: ServiceContext['informer'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * ServiceState is the state of a service: `waiting` until it starts, for a `leaderOnly` service until this replica
 * leads; `restarting` after a failure; `ended` when it has returned.
 */
export type ServiceState = 'waiting' | 'running' | 'restarting' | 'ended';

/** A service that has run this long counts as healthy: its next failure restarts the backoff. */
const HEALTHY_AFTER_MS = 120_000;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** ServiceRunner runs one service, and keeps what it reports. */
export class ServiceRunner {
  readonly service: DeclaredService;
  readonly #options: ServiceRunnerOptions;
  readonly #log: Log;
  #state: ServiceState = 'waiting';
  #port: number | undefined;
  #readiness: (() => ServiceReadiness) | undefined;
  /** A service that had a check keeps it when it is restarted. */
  #isChecked = false;

  constructor(service: DeclaredService, options: ServiceRunnerOptions) {
    this.service = service;
    this.#options = options;
    this.#log = options.log.with({ service: service.name });
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** The port that it listens on; undefined while it reports none. */
  get port(): number | undefined {
    return this.#port;
  }

  /** check returns the result of its readiness check; undefined while it has none. */
  check(): HealthCheck | undefined {
    if (!this.#isChecked || this.#state === 'ended') return undefined;
    const name = `service-${this.#options.operator}-${this.service.name}`;
    return { name, ...(this.#readiness?.() ?? { ok: false, message: 'it failed and is being restarted' }) };
  }

  /** run keeps the service running until the signal is aborted, and resolves when it has ended. It does not reject. */
  async run(signal: AbortSignal, deps: unknown): Promise<void> {
    const { clock, random } = this.#options;
    let delayMs = FIRST_DELAY_MS;
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      try {
        await this.#runOnce(signal, deps);
        if (!signal.aborted) this.#log.info('service ended');
        break;
      } catch (error) {
        if (signal.aborted) {
          if (error !== signal.reason) this.#log.warn('service failed while stopping', { error });
          break;
        }
        this.#state = 'restarting';
        if (clock.monotonic() - startedAt >= HEALTHY_AFTER_MS) delayMs = FIRST_DELAY_MS;
        const retryInMs = between(random, delayMs / 2, delayMs);
        this.#log.error('service failed, restarting it', { error, retryInMs });
        await clock.sleep(retryInMs, signal).catch(() => undefined);
        delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
      }
    }
    this.#state = 'ended';
  }

  async #runOnce(signal: AbortSignal, deps: unknown): Promise<void> {
    let isRunning = true;
    const context: ServiceContext = {
      client: this.#options.client,
      informer: this.#options.informer,
      // What an earlier run reports late must not count for the current one.
      listensOn: (port) => {
        if (isRunning) this.#port = port;
      },
      readiness: (check) => {
        if (!isRunning) return;
        this.#readiness = check;
        this.#isChecked = true;
      },
    };
    this.#state = 'running';
    try {
      // The value is what defineOperator checked the service against; the types were erased there.
      await this.service.run(signal, deps as never, context);
    } finally {
      isRunning = false;
      this.#port = undefined;
      this.#readiness = undefined;
    }
  }
}
