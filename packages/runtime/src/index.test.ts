import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

/**
 * Returns the files that are loaded with an entry of this package. Files that it imports on demand are in other
 * outputs.
 */
async function loadedWith(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: { entry: fileURLToPath(new URL(entry, import.meta.url)) },
    outdir: 'out',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@bowline/source'],
    write: false,
    metafile: true,
  });
  const loaded = new Set(['out/entry.js']);
  for (const output of loaded) {
    for (const { path, kind, external } of metafile.outputs[output]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) loaded.add(path);
    }
  }
  return [...loaded].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}));
}

/** Heavy modules that not every process needs: CEL, RE2, X.509, and the webhook server. */
const HEAVY = /machinery\/src\/cel\/|node_modules\/(@marcbachmann|re2js|@peculiar)\/|run-webhooks\.ts$/;

it('loads neither CEL, RE2 nor X.509 before they are needed', async () => {
  const loaded = await loadedWith('./index.ts');
  expect(loaded.some((file) => file.endsWith('runtime/src/webhook/declare.ts'))).toBe(true);
  expect(loaded.filter((file) => HEAVY.test(file))).toEqual([]);
});

it('loads CEL with the entry for kinds, whose rules are compiled when they are defined', async () => {
  const loaded = await loadedWith('./resource/index.ts');
  expect(loaded.some((file) => HEAVY.test(file))).toBe(true);
});
