import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { repositoryRoot } from '../../scripts/repository.ts';
import { Reader } from '../guide/reader.ts';
import { ensureImageLayers } from '../support/image/ensure-image-layers.ts';

const page = fileURLToPath(new URL('../../docs/image.md', import.meta.url));
/** npm in the folder of the reader, without its warnings about the work tree. The command itself runs the npm of the machine. */
const NPM = `#!/usr/bin/env bash
export PATH="\${PATH#*:}"
exec node --conditions=@bowline/source --import "$TSX" "$REPOSITORY/scripts/image.ts" "\${@:4}" 2> >(grep -E '^(error|usage):' >&2)
`;

it('the commands of docs/image.md print the output shown there', async (context) => {
  const missing = await ensureImageLayers();
  if (missing !== undefined) return context.skip(missing.skippedBecause);
  const cwd = mkdtempSync(join(tmpdir(), 'bowline-image-page-'));
  try {
    const programs = join(cwd, 'bin');
    mkdirSync(programs);
    writeFileSync(join(programs, 'npm'), NPM);
    chmodSync(join(programs, 'npm'), 0o755);
    const env = { REPOSITORY: repositoryRoot, TSX: import.meta.resolve('tsx') };
    await using reader = new Reader({ cwd, programs, env, background: '', ready: () => Promise.resolve() });
    // Update the page with: npm run test:kubernetes -- test/image -u
    await reader.read(page);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}, 300_000);
