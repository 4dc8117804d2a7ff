import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('./metrics.md', import.meta.url), 'utf8');
const code = readFileSync(new URL('../../../operators/jasm/src/metrics.ts', import.meta.url), 'utf8');
const reference = readFileSync(new URL('../../reference/metrics.md', import.meta.url), 'utf8');

it('the reference contains every metric, and the page mentions no others', () => {
  const metrics = [...code.matchAll(/name: '(jasm_\w+)'/g)].map(([, name = '']) => name);
  expect(metrics).toContain('jasm_provider_api_calls_total');
  expect(metrics.filter((name) => !reference.includes(`| \`${name}\` |`))).toEqual([]);
  const named = [...page.matchAll(/jasm_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
  expect(named.filter((name) => !metrics.includes(name))).toEqual([]);
});
