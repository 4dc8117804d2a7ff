import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Command } from './subject-process.ts';

/**
 * bundleSubjects bundles the measured programs like the product's CLI: from source, with dynamic imports in separate files, and
 * without loader hooks, whose memory would be counted as ours. Each program is a separate bundle, so that none loads what only
 * another one needs. Returns the command of each by its file's name.
 */
export async function bundleSubjects(sources: readonly URL[], folder: string): Promise<(name: string) => Command> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await Promise.all(sources.map((source) => bundleOne(root, source, join(folder, nameOf(source)))));
  return (name) => ({ file: process.execPath, args: [join(folder, name, `${name}.mjs`)] });
}

const nameOf = (source: URL): string => basename(source.pathname, '.ts');

async function bundleOne(root: string, source: URL, outdir: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [{ in: fileURLToPath(source), out: nameOf(source) }],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@bowline/source'],
    // A chunk made from CommonJS has no named exports, so dynamic imports have to resolve to the ES module.
    mainFields: ['module', 'main'],
    alias: { yaml: './node_modules/yaml/browser/index.js' },
    // Bundled CommonJS dependencies call require for Node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
}
