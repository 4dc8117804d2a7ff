import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries } from '@bowline/control-plane';
import { repositoryRoot } from '../../scripts/repository.ts';

/** PagePrograms is a temporary folder with the programs that the commands of pages start. */
export interface PagePrograms extends Disposable {
  /** Where `npm start` runs, and writes its files. */
  readonly folder: string;
  /** The folder of the programs, for the PATH. */
  readonly bin: string;
  readonly kubeconfig: string;
}

const TSX = JSON.stringify(join(repositoryRoot, 'node_modules/tsx/dist/esm/index.mjs'));
const MAIN = JSON.stringify(join(repositoryRoot, 'apps/bowline/src/main.ts'));
const SOURCE = `exec node --conditions=@bowline/source --import ${TSX} ${MAIN}`;

/**
 * pagePrograms provides kubectl, `bowline` from source, on free ports, and `npm start`, which writes its kubeconfig where
 * the reader finds it.
 */
export async function pagePrograms(): Promise<PagePrograms> {
  const { paths } = await ensureBinaries(['kubectl']);
  const folder = mkdtempSync(join(tmpdir(), 'bowline-pages-'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(paths.kubectl, join(bin, 'kubectl'));
  const programs = {
    bowline: `#!/usr/bin/env bash
ports=()
if [ "$1" = run ]; then ports=(--health-address 127.0.0.1:0 --metrics-address 0 --webhook-address 127.0.0.1:0); fi
${SOURCE} "$@" "\${ports[@]}"
`,
    npm: `#!/usr/bin/env bash
cd ${JSON.stringify(folder)}
${SOURCE} up "\${@:3}"
`,
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  return {
    folder,
    bin,
    kubeconfig: join(folder, 'kubeconfig'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
