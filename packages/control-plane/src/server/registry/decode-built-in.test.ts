import { schemaFor } from '@bowline/kubernetes/schemas';
import { expect, test } from 'vitest';
import { decodeBuiltIn } from './decode-built-in.ts';

test.each<[string, object, object]>([
  ['ConfigMap', { data: { a: null, b: '1' } }, { data: { a: '', b: '1' } }],
  ['ResourceQuota', { spec: { hard: { cpu: null } } }, { spec: { hard: { cpu: '0' } } }],
  ['Secret', { data: null }, {}],
])('takes null for an empty value in a map of a %s, and for nothing elsewhere', (kind, given, expected) => {
  const schema = schemaFor('v1', kind);
  if (!schema) throw new TypeError(`there is no schema of ${kind}`);
  expect(decodeBuiltIn(kind, 'v1', schema, { ...given }).object).toEqual({ ...expected, metadata: {} });
});
