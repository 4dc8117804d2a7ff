import { schemaFor } from '@bowline/kubernetes/schemas';
import { expect, test } from 'vitest';
import { decodeBuiltIn } from './decode-built-in.ts';

test.each<[string, object, object]>([
  ['ConfigMap', { data: { a: null, b: '1' } }, { data: { a: '', b: '1' } }],
  ['ResourceQuota', { spec: { hard: { cpu: null } } }, { spec: { hard: { cpu: '0' } } }],
  ['Secret', { data: null }, {}],
])('reads null as an empty value in a map of a %s and as absent elsewhere', (kind, given, expected) => {
  const schema = schemaFor('v1', kind);
  if (!schema) throw new TypeError(`no schema is known for ${kind}`);
  expect(decodeBuiltIn(kind, 'v1', schema, { ...given }).object).toEqual({ ...expected, metadata: {} });
});

test('omits zero values that the API server does not distinguish from absent ones, and keeps the others', () => {
  const schema = schemaFor('v1', 'Pod');
  if (!schema) throw new TypeError('no schema is known for Pod');
  const containers = [{ name: '', stdin: false, env: [{ name: 'A', value: '' }] }];
  const spec = { hostNetwork: false, nodeName: '', priority: 0, terminationGracePeriodSeconds: 0, containers };
  const { object } = decodeBuiltIn('Pod', 'v1', schema, { metadata: { generateName: '', generation: 0 }, spec });
  expect(object).toMatchObject({ metadata: {}, spec: { priority: 0, terminationGracePeriodSeconds: 0 } });
  expect(Object.keys(object.metadata)).toEqual([]);
  const { hostNetwork, nodeName, containers: read } = object.spec as Record<string, unknown>;
  expect({ hostNetwork, nodeName, read }).toEqual({ read: [{ name: '', env: [{ name: 'A' }] }] });
});

test('keeps a zero in an int-or-string field', () => {
  const schema = schemaFor('policy/v1', 'PodDisruptionBudget');
  if (!schema) throw new TypeError('no schema is known for PodDisruptionBudget');
  const spec = { maxUnavailable: 0 };
  expect(decodeBuiltIn('PodDisruptionBudget', 'v1', schema, { spec }).object).toMatchObject({ spec });
});
