import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { providePagePrograms } from '../../../test/guide/page-programs.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const programs = providePagePrograms();

it('the commands of the pages print the output shown there', async () => {
  const start = 'npm start -- --operators ztwim --kubeconfig kubeconfig';
  await using reader = programs().reader(here, start, 'ready bowline');
  // Later pages depend on the first one, until that about deletion. The last ones start without objects.
  const first = ['README', 'values', 'webhooks', 'identity-changes', 'troubleshooting', 'limitations', 'deletion'];
  const pages = [...first, 'server', 'migration'];
  // Update the pages with: npm run test:kubernetes -- docs/operators/ztwim -u
  for (const page of pages) await reader.read(join(here, `${page}.md`));
  reader.finish();
}, 600_000);
