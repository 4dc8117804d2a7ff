// Builds what `npm install` must leave ready: the packages' dist folders and the bundled CLI.
// Plain JavaScript, because it runs before anything else has been built.
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '--build', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});

// The names of chunks change with their content: without this, old ones would pile up.
rmSync(`${root}/apps/bowline/dist`, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { bowline: 'apps/bowline/src/main.ts' },
  outdir: 'apps/bowline/dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  // What a command or an operator needs is a file of its own, loaded when it is used: nobody pays for the others.
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  conditions: ['@bowline/source'],
  sourcemap: true,
  define: { __BOWLINE_VERSION__: JSON.stringify(version) },
  // Bundled CommonJS dependencies call require for Node's own modules.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync(`${root}/apps/bowline/dist/bowline.js`, 0o755);
