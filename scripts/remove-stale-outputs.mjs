// Removes from a package's dist what an earlier build wrote for sources that were moved or deleted since: tsc leaves it there,
// and `npm pack` would ship it. Plain JavaScript, because the build runs before anything else has been built.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const OUTPUT = /(?:\.d\.ts|\.js|\.js\.map|\.json)$/;

/**
 * removeStaleOutputs deletes the outputs in `dist` that no file of `src` gives now, tests and their data included.
 *
 * @param {string} packageFolder
 * @returns {string[]} the deleted files, relative to dist
 */
export function removeStaleOutputs(packageFolder) {
  const dist = join(packageFolder, 'dist');
  if (!existsSync(dist)) return [];
  const stale = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (file) => OUTPUT.test(file) && !hasSource(packageFolder, file),
  );
  for (const file of stale) rmSync(join(dist, file));
  return stale;
}

/** @param {string} packageFolder @param {string} output */
function hasSource(packageFolder, output) {
  if (/\.test(?:-support)?\.|(?:^|\/)(?:fixtures|testdata)\//.test(output)) return false;
  const source = output.endsWith('.json') ? output : output.replace(OUTPUT, '.ts');
  return existsSync(join(packageFolder, 'src', source));
}
