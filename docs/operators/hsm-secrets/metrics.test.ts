import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

const page = readFileSync(new URL('./metrics.md', import.meta.url), 'utf8');
const reference = readFileSync(new URL('../../reference/metrics.md', import.meta.url), 'utf8');
const code = sourceFiles('operators/hsm-secrets/src', '.ts')
  .filter((file) => !/\.test(-support)?\.ts$/.test(file))
  .map((file) => readFileSync(join(repositoryRoot, file), 'utf8'))
  .join('\n');

it('the reference contains every metric and no others, and the page mentions only these', () => {
  const metrics = [...new Set([...code.matchAll(/name: '(hsm_\w+)'/g)].map(([, name = '']) => name))].sort();
  expect(metrics).toContain('hsm_reports_total');
  const listed = [...reference.matchAll(/^\| `(hsm_\w+)` \|/gm)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual(metrics);
  const named = [...page.matchAll(/hsm_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
  expect(named.filter((name) => !metrics.includes(name))).toEqual([]);
});
