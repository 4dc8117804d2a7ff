import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PagePrograms, pagePrograms } from '../../../test/guide/page-programs.ts';
import { Reader } from '../../../test/guide/reader.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

const LIMITS = { timeout: 60_000, interval: 500 };
const START = 'npm start -- --operators ztwim --kubeconfig kubeconfig';

let programs: PagePrograms;
beforeAll(async () => {
  await sharedControlPlane(); // Skips the tests where there is no control plane.
  programs = await pagePrograms();
});
afterAll(() => programs?.[Symbol.dispose]());

// Update the pages with: npm run test:kubernetes -- docs/operators/ztwim -u

it('the commands of the pages print the output shown there', async () => {
  await using reader = new Reader({
    cwd: here,
    programs: programs.bin,
    env: { KUBECONFIG: programs.kubeconfig },
    background: START,
    ready: (started) => expect.poll(() => started.logged(), LIMITS).toMatch(/ready bowline/),
  });
  // Later pages depend on the first one, until that about deletion. The last ones start without objects.
  const first = ['README', 'values', 'webhooks', 'identity-changes', 'troubleshooting', 'limitations', 'deletion'];
  const pages = [...first, 'server', 'migration'];
  for (const page of pages) await reader.read(join(here, `${page}.md`));
  reader.finish();
}, 600_000);
