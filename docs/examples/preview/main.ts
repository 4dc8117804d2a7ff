// Runs the operator: with the pod's ServiceAccount in a cluster, otherwise against the current kubeconfig context.
//   dev               also installs the CRD, and starts a DNS provider and the webhook locally
//   manifests IMAGE   prints the manifests that an administrator applies
import { runOperators } from '@bowline/runtime';
import { startDnsServer } from './dns-server.ts';
import { manifests } from './manifests.ts';
import { previews } from './operator.ts';

const { DNS_URL, DOMAIN, GATEWAY, HEALTH_ADDRESS, METRICS_ADDRESS } = process.env;
const [mode = 'run', image] = process.argv.slice(2);
const options = {
  operators: [previews],
  env: process.env,
  healthAddress: HEALTH_ADDRESS,
  metricsAddress: METRICS_ADDRESS,
};

if (mode === 'manifests' && image) {
  const list = { apiVersion: 'v1', kind: 'List', items: manifests(image) };
  process.stdout.write(`${JSON.stringify(list, undefined, 2)}\n`);
} else if (mode === 'dev') {
  await using dns = await startDnsServer();
  await runOperators({
    ...options,
    // Not the namespace of the Previews: webhooks are never called for the operator's own namespace.
    namespace: 'previews',
    install: true,
    config: { previews: { dnsUrl: dns.url } },
    installNameFor: () => 'previews-dev',
    webhooksFor: () => ({ address: '127.0.0.1:0', reachedAt: 'loopback', configurations: 'runtime' }),
  });
} else if (mode === 'run') {
  await runOperators({ ...options, config: { previews: { dnsUrl: DNS_URL, domain: DOMAIN, gateway: GATEWAY } } });
} else {
  process.stderr.write('usage: main.js [run | dev | manifests IMAGE]\n');
  process.exitCode = 2;
}
