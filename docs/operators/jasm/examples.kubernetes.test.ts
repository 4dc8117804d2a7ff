import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { it } from 'vitest';
import { providePagePrograms } from '../../../test/guide/page-programs.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const programs = providePagePrograms();

// Write the pages anew with: npm run test:kubernetes -- docs/operators/jasm -u

it('the commands of the pages about the mock print the output shown there', async () => {
  await using reader = programs().reader(
    here,
    'npm start -- --operators jasm --kubeconfig kubeconfig',
    'ready bowline',
  );
  for (const page of ['README.md', 'delivery.md', 'troubleshooting.md']) await reader.read(join(here, page));
  reader.finish();
}, 300_000);

it('the commands of the policy page print the output shown there', async () => {
  await using controlPlane = await startControlPlane({ kind: 'embedded' });
  await writeKubeconfig(programs().kubeconfig, await controlPlane.kubeconfig('admin'));
  await using reader = programs().reader(
    here,
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
  await writeKubeconfig(programs().kubeconfig, await controlPlane.kubeconfig('admin'));
  await using reader = programs().reader(here, '', '');
  for (const page of ['aws-secretsmanager.md', 'azure-keyvault.md', 'vault.md']) {
    await reader.read(join(here, 'providers', page));
  }
}, 300_000);
