import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

const page = readFileSync(new URL('./troubleshooting.md', import.meta.url), 'utf8');

const source = ['operators/ignition-sync/src', 'packages/runtime/src/author-review']
  .flatMap((folder) => sourceFiles(folder, '.ts'))
  .filter((file) => !/\.test(-support)?\.ts$|\/(?:testing|scenarios|simulated-gateway|local|api)\//.test(file))
  .map((file) => readFileSync(join(repositoryRoot, file), 'utf8'))
  .join('\n');

/** Names of conditions, reasons and events are strings in upper camel case. */
const named = (pattern: RegExp): readonly string[] => [
  ...new Set([...source.matchAll(pattern)].map(([, name = '']) => name)),
];

/** Values of fields and of the Kubernetes API with the same shape. */
const OTHER_WORDS = new Set(['Normal', 'Warning', 'NotFound', 'Conflict']);

const reasons = [
  // Members of the unions SyncReason, GitErrorReason and AgentReason.
  ...named(/^ {2}\| '([A-Z][A-Za-z]+)'/gm),
  ...named(/\breason: '([A-Z][A-Za-z]+)'/g),
  ...named(/\bevent\(\s*'(?:Normal|Warning)',\s*'([A-Z][A-Za-z]+)'/g),
].filter((name) => !OTHER_WORDS.has(name));

const listed = [...page.matchAll(/`([A-Z][a-z]+[A-Z][A-Za-z]+)`/g)].map(([, name = '']) => name);

it('every reason and event is explained', () => {
  expect(reasons.length).toBeGreaterThan(60);
  expect([...new Set(reasons)].filter((name) => !page.includes(`\`${name}\``)).sort()).toEqual([]);
});

it('every reason on the page exists', () => {
  expect([...new Set(listed)].filter((name) => !source.includes(`'${name}'`)).sort()).toEqual([]);
});
