import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { providePagePrograms } from '../../../test/guide/page-programs.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const programs = providePagePrograms();

it('the commands of the page print the output shown there', async () => {
  const start = 'npm start -- --operators ignition-sync --kubeconfig kubeconfig';
  await using reader = programs().reader(here, start, 'ready bowline');
  // Update the page with: npm run test:kubernetes -- docs/operators/ignition-sync -u
  await reader.read(join(here, 'README.md'));
  reader.finish();
}, 300_000);
