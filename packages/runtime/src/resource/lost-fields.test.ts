import type { CustomResourceDefinition } from '@bowline/kubernetes';
import { type AnySchema, s } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { defineResource } from './define-resource.ts';
import { lostFields } from './lost-fields.ts';

const definition = (spec: AnySchema, version = 'v1'): CustomResourceDefinition =>
  defineResource({ group: 'example.com', version, kind: 'Site', scope: 'Namespaced', spec }).crd;
const page = s.object({ title: s.string(), tags: s.array(s.object({ name: s.string() })).optional() });

it.each<[string, AnySchema, AnySchema, readonly string[]]>([
  ['the same fields', page, page, []],
  ['a new field', s.object({ title: s.string() }), page, []],
  ['removed fields', page, s.object({ text: s.string() }), ['spec.tags', 'spec.title']],
  [
    'a removed field of list items',
    page,
    s.object({ title: s.string(), tags: s.array(s.object({ id: s.string() })) }),
    ['spec.tags.*.name'],
  ],
  [
    'a removed field of map values',
    s.object({ by: s.map(s.object({ a: s.string(), b: s.string() })) }),
    s.object({ by: s.map(s.object({ a: s.string() })) }),
    ['spec.by.*.b'],
  ],
])('returns the fields that objects would lose: %s', (_, stored, next, lost) => {
  expect(lostFields(definition(stored), definition(next))).toEqual(lost);
});

it('ignores versions that only one of the definitions has', () => {
  expect(lostFields(definition(page, 'v1beta1'), definition(s.object({}), 'v1'))).toEqual([]);
});
