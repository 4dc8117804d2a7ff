// Runs the greeter against the current kubeconfig context, or in a pod; with `manifests` it prints the manifests to apply:
//   node --conditions=@bowline/source --import tsx docs/examples/ten-lines/main.ts
import { runOperators } from '@bowline/runtime';
import { greeter } from './greeter.ts';
import { manifests } from './manifests.ts';

if (process.argv[2] === 'manifests') {
  process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }, undefined, 2)}\n`);
} else {
  const { HEALTH_ADDRESS: healthAddress, METRICS_ADDRESS: metricsAddress } = process.env;
  await runOperators({ operators: [greeter], env: process.env, install: true, healthAddress, metricsAddress });
}
