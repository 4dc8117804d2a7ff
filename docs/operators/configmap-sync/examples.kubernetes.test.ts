import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { it } from 'vitest';
import { providePagePrograms } from '../../../test/guide/page-programs.ts';

/** In reading order: later pages depend on the first one. */
const pages = ['README.md', 'registry-ca.md', 'one-key.md', 'two-way.md', 'rights.md', 'troubleshooting.md'];

const here = fileURLToPath(new URL('.', import.meta.url));
const programs = providePagePrograms();

it('the commands in the pages print the output that the pages show', async () => {
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
  });
  await writeKubeconfig(programs().kubeconfig, await controlPlane.kubeconfig('admin'));
  // The controller starts after the API server can call the webhook.
  await using reader = programs().reader(here, 'bowline run --operators configmap-sync', 'controller started');
  // Update the pages with: npm run test:kubernetes -- docs/operators/configmap-sync -u
  for (const page of pages) await reader.read(join(here, page));
  reader.finish();
}, 300_000);
