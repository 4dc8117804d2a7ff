import { expect, it } from 'vitest';
import { Preview } from './preview.ts';

const good = { metadata: { name: 'pr-42' }, spec: { image: 'shop:pr-42', host: 'pr-42' } };
const problems = (object: unknown, oldObject?: unknown): string[] =>
  Preview.validate(object, { oldObject }).map(({ field, message }) => `${field}: ${message}`);

it('accepts an object with an image and a host, and sets defaults', () => {
  expect(problems(good)).toEqual([]);
  expect(Preview.withDefaults(good).spec).toEqual({ ...good.spec, port: 8080, replicas: 1, keepFor: '72h' });
});

it.each([
  ['a mutable image tag', { spec: { ...good.spec, image: 'shop:latest' } }, 'spec.image'],
  ['a host that is not a DNS label', { spec: { ...good.spec, host: 'PR 42' } }, 'spec.host'],
  ['several replicas for more than 24h', { spec: { ...good.spec, replicas: 2, keepFor: '48h' } }, 'spec.keepFor'],
  ['a name that no Service can have', { metadata: { name: '42' } }, '<nil>'],
])('rejects %s, and names the field', (_, change, field) => {
  expect(problems({ ...good, ...change })).toEqual([expect.stringMatching(`^${field}: `)]);
});

it('rejects a change of the host', () => {
  const moved = { ...good, spec: { ...good.spec, host: 'pr-43' } };
  expect(problems(moved, good)).toEqual([expect.stringContaining('delete the Preview and create another')]);
});
