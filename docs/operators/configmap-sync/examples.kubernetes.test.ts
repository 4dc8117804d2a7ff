import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { expect, it } from 'vitest';
import { pagePrograms } from '../../../test/guide/page-programs.ts';
import { Reader } from '../../../test/guide/reader.ts';

/** In reading order: later pages depend on the first one. */
const pages = ['README.md', 'registry-ca.md', 'one-key.md', 'two-way.md', 'rights.md', 'troubleshooting.md'];

const here = fileURLToPath(new URL('.', import.meta.url));

it('the commands in the pages print the output that the pages show', async () => {
  await sharedControlPlane(); // Skips the test where there is no control plane.
  using programs = await pagePrograms();
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
  });
  await writeKubeconfig(programs.kubeconfig, await controlPlane.kubeconfig('admin'));
  await using reader = new Reader({
    cwd: here,
    programs: programs.bin,
    env: { KUBECONFIG: programs.kubeconfig },
    background: 'bowline run --operators configmap-sync',
    // The controller starts after the API server can call the webhook.
    ready: (started) => expect.poll(() => started.logged(), LIMITS).toContain('controller started'),
  });
  // Update the pages with: npm run test:kubernetes -- docs/operators/configmap-sync -u
  for (const page of pages) await reader.read(join(here, page));
  reader.finish();
}, 300_000);

const LIMITS = { timeout: 60_000, interval: 500 };
