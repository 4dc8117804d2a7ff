import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { afterAll, beforeAll, expect } from 'vitest';
import { bundledProgram } from '../support/bundled-program.ts';
import { Reader } from './reader.ts';

/** PagePrograms is a temporary folder with the programs that the commands of pages start. */
export interface PagePrograms extends Disposable {
  /** Where `npm start` runs, and writes its files. */
  readonly folder: string;
  readonly kubeconfig: string;
  /** reader returns a reader of pages in a folder that start a command, which is ready when it has printed a text. */
  reader(cwd: string, background: string, ready: string): Reader;
}

/** How long a program may take to print that it is ready. */
const READY = { timeout: 60_000, interval: 500 };

/**
 * providePagePrograms provides programs for the tests of a file: kubectl, `bowline`, on free ports, and `npm start`, which writes
 * its kubeconfig where the reader finds it. Without a real control plane the tests are skipped.
 */
export function providePagePrograms(): () => PagePrograms {
  let programs: PagePrograms | undefined;
  beforeAll(async () => {
    await sharedControlPlane(); // Skips the tests where there is no control plane.
    programs = await pagePrograms();
  });
  afterAll(() => programs?.[Symbol.dispose]());
  return () => {
    if (!programs) throw new Error('the programs exist only within tests');
    return programs;
  };
}

async function pagePrograms(): Promise<PagePrograms> {
  const { paths } = await ensureBinaries(['kubectl']);
  const bowline = `exec node ${JSON.stringify(await bundledProgram('apps/bowline/src/main.ts'))}`;
  const folder = mkdtempSync(join(tmpdir(), 'bowline-pages-'));
  const bin = join(folder, 'bin');
  const kubeconfig = join(folder, 'kubeconfig');
  mkdirSync(bin);
  symlinkSync(paths.kubectl, join(bin, 'kubectl'));
  const programs = {
    bowline: `#!/usr/bin/env bash
ports=()
if [ "$1" = run ]; then ports=(--health-address 127.0.0.1:0 --metrics-address 0 --webhook-address 127.0.0.1:0); fi
${bowline} "$@" "\${ports[@]}"
`,
    npm: `#!/usr/bin/env bash
cd ${JSON.stringify(folder)}
${bowline} up "\${@:3}"
`,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  return {
    folder,
    kubeconfig,
    reader: (cwd, background, ready) =>
      new Reader({
        cwd,
        programs: bin,
        env: { KUBECONFIG: kubeconfig },
        background,
        ready: (started) => expect.poll(() => started.logged(), READY).toContain(ready),
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
