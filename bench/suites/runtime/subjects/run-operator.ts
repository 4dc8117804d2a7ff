import {
  type ConnectionConfig,
  connect,
  createClient,
  createLog,
  createMetrics,
  Manager,
  type Operator,
} from '@bowline/runtime';

/**
 * runOperator runs an operator in a manager as a deployment would: leader election, probes, metrics, logs at their default
 * level, one connection that reports its requests.
 */
export function runOperator(config: ConnectionConfig, operator: Operator): AsyncDisposable {
  // Standard output is the harness's.
  const log = createLog({ destination: process.stderr });
  const metrics = createMetrics();
  const transport = connect(config, { log, metrics });
  const client = createClient({ transport, log, metrics });
  const manager = new Manager({
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
  // A manager that cannot run must end the subject, not leave the harness waiting.
  stopped.catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await stopped;
      await transport.close();
    },
  };
}
