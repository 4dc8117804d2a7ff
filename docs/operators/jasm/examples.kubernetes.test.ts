import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PagePrograms, pagePrograms } from '../../../test/guide/page-programs.ts';
import { Reader } from '../../../test/guide/reader.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

const LIMITS = { timeout: 60_000, interval: 500 };

let programs: PagePrograms;
beforeAll(async () => {
  await sharedControlPlane(); // Skips the tests where there is no control plane.
  programs = await pagePrograms();
});
afterAll(() => programs?.[Symbol.dispose]());

// Write the pages anew with: npm run test:kubernetes -- docs/operators/jasm -u

it('the commands of the pages about the mock print the output shown there', async () => {
  await using reader = readerWith('npm start -- --operators jasm --kubeconfig kubeconfig', 'ready bowline');
  for (const page of ['README.md', 'delivery.md', 'troubleshooting.md']) await reader.read(join(here, page));
  reader.finish();
}, 300_000);

it('the commands of the policy page print the output shown there', async () => {
  await using controlPlane = await startControlPlane({ kind: 'embedded' });
  await writeKubeconfig(programs.kubeconfig, await controlPlane.kubeconfig('admin'));
  await using reader = readerWith(
    'bowline run --operators jasm --config examples/policy/bowline.yaml',
    'controller started',
  );
  await reader.run('kubectl create namespace bowline-system');
  await reader.run('bowline jasm mock set /prod/shop/db DB_USER=shop DB_PASSWORD=correct-horse');
  await reader.read(join(here, 'policy.md'));
  reader.finish();
}, 300_000);

it('the install commands of the provider pages succeed', async () => {
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
  });
  await writeKubeconfig(programs.kubeconfig, await controlPlane.kubeconfig('admin'));
  await using reader = readerWith('', '');
  for (const page of ['aws-secretsmanager.md', 'azure-keyvault.md', 'vault.md']) {
    await reader.read(join(here, 'providers', page));
  }
}, 300_000);

/** readerWith is a reader of pages that start a command, which is ready when it has printed a text. */
function readerWith(background: string, ready: string): Reader {
  return new Reader({
    cwd: here,
    programs: programs.bin,
    env: { KUBECONFIG: programs.kubeconfig },
    background,
    ready: (started) => expect.poll(() => started.logged(), LIMITS).toContain(ready),
  });
}
