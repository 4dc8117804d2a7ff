// The runtime's webhook server with a validating webhook that admits everything, with all defaults except the certificate.
import { ConfigMap } from '@bowline/kubernetes';
import { admit, validating } from '@bowline/runtime';
import { loadKubeconfig } from '@bowline/runtime/client';
import { createLog, createMetrics } from '@bowline/runtime/manager';
import { startWebhooks, webhookPath } from '@bowline/runtime/webhook';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { openCache } from './open-cache.ts';

const input = subjectInput();
await using opened = openCache(await loadKubeconfig({ paths: [input.kubeconfig] }));
const stop = new AbortController();
const webhook = validating(ConfigMap, { name: 'look', operations: ['CREATE', 'UPDATE'] }).handle(() => admit());
const webhooks = await startWebhooks({
  operator: 'bench-webhook',
  domain: 'bowline.dev',
  webhooks: [webhook],
  namespace: 'default',
  client: opened.client,
  cache: opened.cache,
  address: '127.0.0.1:0',
  reachedAt: 'loopback',
  certificates: { kind: 'files', folder: String(input.options.folder) },
  // The limit distributes callers over replicas; a new handshake every 1,000 reviews is not to be measured here.
  maxRequestsPerConnection: 1_000_000,
  log: createLog({ destination: process.stderr }),
  metrics: createMetrics(),
  signal: stop.signal,
});
await webhooks.ready();
report({ port: webhooks.port, path: webhookPath('bench-webhook', webhook) });
await untilReleased();
stop.abort();
await webhooks.stopped;
