// Bundles the command line: one file for what every command needs, and chunks for what only some need.
// Plain JavaScript, because the build runs before anything else has been built.
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/**
 * bundle writes `bowline.js` and its chunks to a folder, and removes the files of earlier builds: the names of chunks change with
 * their content.
 *
 * @param {{ readonly entry: string; readonly folder: string }} options the entry is relative to the repository
 * @returns {Promise<string>} the path of bowline.js
 */
export async function bundle(options) {
  return (await bundleWithInputs(options)).main;
}

/**
 * bundleWithInputs is `bundle`, and also returns the source files that the bundle consists of, relative to the repository. Without
 * source maps, which contain the path from the folder to the sources, the bundle is the same wherever the repository is.
 *
 * @param {{ readonly entry: string; readonly folder: string; readonly sourcemap?: boolean }} options
 * @returns {Promise<{ readonly main: string; readonly inputs: readonly string[] }>}
 */
export async function bundleWithInputs({ entry, folder, sourcemap = true }) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { bowline: entry },
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    // What a command or an operator needs is a separate file that is loaded on demand, so that other commands do not pay for it.
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@bowline/source'],
    // A chunk made from CommonJS has no named exports, so dynamic imports have to resolve to the ES module.
    mainFields: ['module', 'main'],
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    sourcemap,
    define: { __BOWLINE_VERSION__: JSON.stringify(version) },
    // Bundled CommonJS dependencies call require for Node's own modules.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
    metafile: true,
    logLevel: 'warning',
  });
  // Only now: a failed build leaves the previous one in place.
  const written = new Set(Object.keys(metafile.outputs).map((path) => resolve(root, path)));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !written.has(path)) rmSync(path);
  }
  const main = join(folder, 'bowline.js');
  chmodSync(main, 0o755);
  return { main, inputs: Object.keys(metafile.inputs) };
}
