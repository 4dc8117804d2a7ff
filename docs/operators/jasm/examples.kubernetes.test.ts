import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBinaries, startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repositoryRoot } from '../../../scripts/repository.ts';
import { Reader } from '../../../test/guide/reader.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bowline-pages-'));
const kubeconfig = join(folder, 'kubeconfig');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMITS = { timeout: 60_000, interval: 500 };

beforeAll(async () => {
  await sharedControlPlane(); // Skips the tests where there is no control plane.
  const { paths } = await ensureBinaries(['kubectl']);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(paths.kubectl, join(folder, 'bin/kubectl'));
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(folder, 'bin', name), text);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
});

// Write the pages anew with: npm run test:kubernetes -- docs/operators/jasm -u

it('the commands of the pages about the mock print the output shown there', async () => {
  await using reader = readerWith('npm start -- --operators jasm --kubeconfig kubeconfig', 'ready bowline');
  for (const page of ['README.md', 'delivery.md', 'troubleshooting.md']) await reader.read(join(here, page));
  reader.finish();
}, 300_000);

it('the commands of the policy page print the output shown there', async () => {
  await using controlPlane = await startControlPlane({ kind: 'embedded' });
  await writeKubeconfig(kubeconfig, await controlPlane.kubeconfig('admin'));
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
  await writeKubeconfig(kubeconfig, await controlPlane.kubeconfig('admin'));
  await using reader = readerWith('', '');
  for (const page of ['aws-secretsmanager.md', 'azure-keyvault.md', 'vault.md']) {
    await reader.read(join(here, 'providers', page));
  }
}, 300_000);

/** readerWith is a reader of pages that start a command, which is ready when it has printed a text. */
function readerWith(background: string, ready: string): Reader {
  return new Reader({
    cwd: here,
    programs: join(folder, 'bin'),
    env: { KUBECONFIG: kubeconfig },
    background,
    ready: (started) => expect.poll(() => started.logged(), LIMITS).toContain(ready),
  });
}

const SOURCE = `exec node --conditions=@bowline/source --import ${JSON.stringify(join(repositoryRoot, 'node_modules/tsx/dist/esm/index.mjs'))} ${JSON.stringify(join(repositoryRoot, 'apps/bowline/src/main.ts'))}`;

/** The command line from source, on ports that nobody else has, and \`npm start\`, which writes its kubeconfig where the reader finds it. */
const PROGRAMS = {
  bowline: `#!/usr/bin/env bash
ports=()
if [ "$1" = run ]; then ports=(--health-address 127.0.0.1:0 --metrics-address 0); fi
${SOURCE} "$@" "\${ports[@]}"
`,
  npm: `#!/usr/bin/env bash
cd ${JSON.stringify(folder)}
${SOURCE} up "\${@:3}"
`,
};
