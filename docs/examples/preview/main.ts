// Runs the operator in a pod, or against the current kubeconfig context. `dev` brings everything that a cluster would have: the
// CRD, a DNS provider, the webhook's address. `manifests` prints what an administrator applies.
import { runOperators } from '@bowline/runtime';
import { startDnsServer } from './dns-server.ts';
import { manifests } from './manifests.ts';
import { previews } from './operator.ts';

const [mode = 'run', image = ''] = process.argv.slice(2);
if (mode === 'manifests') {
  process.stdout.write(
    `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests(image) }, undefined, 2)}\n`,
  );
} else if (mode === 'dev') {
  await using dns = await startDnsServer();
  await runOperators({
    operators: [previews],
    env: process.env,
    install: true,
    config: { previews: { dnsUrl: dns.url } },
    webhooksFor: () => ({ address: '127.0.0.1:9443', reachedAt: 'loopback', configurations: 'runtime' }),
  });
} else {
  const { DNS_URL, DOMAIN, GATEWAY } = process.env;
  await runOperators({
    operators: [previews],
    env: process.env,
    config: { previews: { dnsUrl: DNS_URL, domain: DOMAIN, gateway: GATEWAY } },
  });
}
