// Runs the copy operator against the current kubeconfig context:
//   node --conditions=@bowline/source --import tsx docs/examples/copy/main.ts
import { homedir } from 'node:os';
import { runUntilSignal } from '@bowline/runtime';
import { connect, createClient, defaultKubeconfigPaths, loadKubeconfig } from '@bowline/runtime/client';
import { createLog, createMetrics, Manager } from '@bowline/runtime/manager';
import { copy } from './copy.ts';

const { HEALTH_ADDRESS = '127.0.0.1:8081', METRICS_ADDRESS = '127.0.0.1:8080' } = process.env;
const log = createLog({ format: 'text' });
const metrics = createMetrics();
const paths = defaultKubeconfigPaths({ env: process.env, home: homedir() });
await using client = createClient({ transport: connect(await loadKubeconfig({ paths })), log, metrics });
const manager = new Manager({
  operators: [copy],
  clientFor: () => client,
  namespace: 'default',
  healthAddress: HEALTH_ADDRESS,
  metricsAddress: METRICS_ADDRESS,
  log,
  metrics,
});
await runUntilSignal((signal) => manager.run(signal));
