import { rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../../../scripts/bundle.mjs';

/** Inside the repository: the program looks for files of other packages, such as the Go module of the real binaries. */
const cache = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

const programs = new Map<string, Promise<string>>();

/**
 * bundledProgram returns the path of a program, bundled as in a release: one file with chunks, so that anything missing
 * from the bundle is found. It starts several times faster than from source. The bundle is made once per test worker.
 */
export function bundledProgram(entry: 'main.ts' | 'testing/main.test-support.ts'): Promise<string> {
  const known = programs.get(entry) ?? makeBundle(entry);
  programs.set(entry, known);
  return known;
}

async function makeBundle(entry: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'bowline-bundle-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return await bundle({ entry: `apps/bowline/src/${entry}`, folder });
}
