// Bundles the command line: one file for what every command needs, and a chunk for whatever only some do.
// Plain JavaScript, because the build runs before anything else has been built.
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/**
 * bundle writes `bowline.js` and its chunks to a folder, which it empties first: the names of chunks change with their content.
 *
 * @param {{ readonly entry: string; readonly folder: string }} options the entry is relative to the repository
 * @returns {Promise<string>} the path of bowline.js
 */
export async function bundle({ entry, folder }) {
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: { bowline: entry },
    outdir: folder,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    // What a command or an operator needs is a file of its own, loaded when it is used: nobody pays for the others.
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@bowline/source'],
    // A chunk made of CommonJS has no named exports, so what is imported dynamically has to be the ES module.
    mainFields: ['module', 'main'],
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    sourcemap: true,
    define: { __BOWLINE_VERSION__: JSON.stringify(version) },
    // Bundled CommonJS dependencies call require for Node's own modules.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  const main = join(folder, 'bowline.js');
  chmodSync(main, 0o755);
  return main;
}
