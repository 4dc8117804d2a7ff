import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBinaries, startControlPlane, writeKubeconfig } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, expect, it } from 'vitest';
import { repositoryRoot } from '../../../scripts/repository.ts';
import { Reader } from '../../../test/guide/reader.ts';

/** In reading order: later pages depend on the first one. */
const pages = ['README.md', 'registry-ca.md', 'one-key.md', 'two-way.md', 'rights.md', 'troubleshooting.md'];

const here = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bowline-pages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the commands in the pages print the output that the pages show', async () => {
  await sharedControlPlane(); // Skips the test where there is no control plane.
  const { paths } = await ensureBinaries(['kubectl']);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(paths.kubectl, join(folder, 'bin/kubectl'));
  writeFileSync(join(folder, 'bin/bowline'), bowline);
  chmodSync(join(folder, 'bin/bowline'), 0o755);
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
  });
  await writeKubeconfig(join(folder, 'kubeconfig'), await controlPlane.kubeconfig('admin'));
  await using reader = new Reader({
    cwd: here,
    programs: join(folder, 'bin'),
    env: { KUBECONFIG: join(folder, 'kubeconfig') },
    background: 'bowline run --operators configmap-sync',
    // The controller starts after the API server can call the webhook.
    ready: (started) => expect.poll(() => started.logged(), LIMITS).toContain('controller started'),
  });
  // Update the pages with: npm run test:kubernetes -- docs/operators/configmap-sync -u
  for (const page of pages) await reader.read(join(here, page));
  reader.finish();
}, 300_000);

const LIMITS = { timeout: 60_000, interval: 500 };

/** The command line from source, on free ports. */
const bowline = `#!/usr/bin/env bash
ports=()
if [ "$1" = run ]; then ports=(--health-address 127.0.0.1:0 --metrics-address 0 --webhook-address 127.0.0.1:0); fi
cd ${JSON.stringify(repositoryRoot)}
exec node --conditions=@bowline/source --import tsx apps/bowline/src/main.ts "$@" "\${ports[@]}"
`;
