import { createServer } from 'node:net';
import { webhookConfigurations } from '@bowline/runtime/install';
import { ztwim } from '@bowline/ztwim';
import { MANAGER_NAMESPACE, type ZtwimScene } from './scene.ts';

const collection = '/apis/admissionregistration.k8s.io/v1';

/** freePort returns a port that no process listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0));
    });
  });
}

/** createWebhooks creates the configurations of the webhooks, as the chart does. The operator adds its CA. */
export async function createWebhooks({ api, known }: ZtwimScene): Promise<void> {
  const { validating, mutating } = webhookConfigurations({
    operator: ztwim.name,
    domain: ztwim.domain,
    webhooks: ztwim.webhooks,
    address: { url: `https://127.0.0.1:${known.webhookPort}` },
    ownNamespace: MANAGER_NAMESPACE,
    ownKinds: ztwim.resources,
  });
  await api.ok('POST', `${collection}/validatingwebhookconfigurations`, validating, undefined, [409]);
  await api.ok('POST', `${collection}/mutatingwebhookconfigurations`, mutating, undefined, [409]);
}

/** deleteWebhooks deletes them, for a time in which no operator runs. */
export async function deleteWebhooks({ api }: ZtwimScene): Promise<void> {
  for (const kind of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']) {
    const items = JSON.parse(await api.ok('GET', `${collection}/${kind}`)) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    for (const { metadata } of items.items.filter((each) => each.metadata.name.endsWith('-ztwim'))) {
      await api.ok('DELETE', `${collection}/${kind}/${metadata.name}`);
    }
  }
}
