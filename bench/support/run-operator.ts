import { setTimeout as pause } from 'node:timers/promises';
import type { Operator } from '@bowline/runtime';
import {
  type Client,
  type ConnectionConfig,
  connect,
  createClient,
  type Transport,
  type TransportRequest,
} from '@bowline/runtime/client';
import { createLog, createMetrics, Manager, type ManagerOptions, type MetricsRegistry } from '@bowline/runtime/manager';

/** RunningOperator is an operator in its manager, with their shared objects. */
export interface RunningOperator extends AsyncDisposable {
  readonly client: Client;
  readonly manager: Manager;
  readonly metrics: MetricsRegistry;
  /** working resolves once every controller runs: caches are synced, and the Lease is held. */
  working(): Promise<void>;
}

/** RunOptions are additional options of the manager, and what else differs from a deployment. */
export interface RunOptions extends Pick<ManagerOptions, 'config' | 'webhooksFor'> {
  /** observe is called before every request. Defaults to none. */
  readonly observe?: ((request: TransportRequest) => void) | undefined;
}

/**
 * runOperator runs an operator in a manager like a deployment: leader election, probes, metrics, logs at their default level, one
 * connection that reports its requests.
 */
export function runOperator(
  config: ConnectionConfig,
  operator: Operator,
  { observe, ...options }: RunOptions = {},
): RunningOperator {
  // Standard output is reserved for the harness.
  const log = createLog({ destination: process.stderr });
  const metrics = createMetrics();
  const transport = connect(config, { log, metrics });
  const client = createClient({ transport: observe ? observed(transport, observe) : transport, log, metrics });
  const manager = new Manager({
    ...options,
    operators: [operator],
    clientFor: () => client,
    namespace: 'default',
    log,
    metrics,
    healthAddress: '127.0.0.1:0',
    metricsAddress: '127.0.0.1:0',
  });
  const stop = new AbortController();
  const stopped = manager.run(stop.signal);
  // A manager that fails must end the subject instead of leaving the harness waiting.
  stopped.catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
  return {
    client,
    manager,
    metrics,
    async working() {
      const isWorking = (): boolean =>
        manager.status().some(({ controllers }) => controllers.every(({ state }) => state === 'running'));
      while (!isWorking()) await pause(10);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await stopped;
      await transport.close();
    },
  };
}

function observed(transport: Transport, observe: (request: TransportRequest) => void): Transport {
  return {
    host: transport.host,
    request(request) {
      observe(request);
      return transport.request(request);
    },
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}
