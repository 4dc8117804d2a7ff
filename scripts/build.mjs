// Builds what `npm install` must leave ready: the packages' dist folders and the bundled CLI.
// Plain JavaScript, because it runs before anything else has been built.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { removeStaleOutputs } from './remove-stale-outputs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

execFileSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '--build', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});

const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'));
for (const { path } of references) removeStaleOutputs(join(root, path));

await bundle({ entry: 'apps/bowline/src/main.ts', folder: join(root, 'apps/bowline/dist') });
