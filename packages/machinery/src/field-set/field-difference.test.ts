import { readFileSync } from 'node:fs';
import type { KubernetesObject } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { applyJsonPatch, type JsonPatchOperation } from '../patch/json-patch.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { findDifference } from './field-difference.ts';
import { builtInShape, customShape } from './field-shape.ts';
import type { FieldsV1 } from './fields-v1.ts';
import { appliedFields } from './managed-fields.ts';

type DesiredObject = KubernetesObject & { readonly [field: string]: unknown };

/** What manager `m` applied, and what kube-apiserver 1.35.8 returned. */
const recorded = JSON.parse(
  readFileSync(new URL('./testdata/recorded-objects.json', import.meta.url), 'utf8'),
) as readonly { readonly desired: DesiredObject; readonly live: KubernetesObject }[];

function sample(kind: string): (typeof recorded)[number] {
  const found = recorded.find(({ live }) => live.kind === kind);
  if (!found) throw new Error(`nothing recorded for ${kind}`);
  return found;
}

function difference(desired: DesiredObject, live: KubernetesObject, manager = 'm') {
  const { apiVersion = '', kind = '' } = desired;
  const owned = appliedFields(live, manager, apiVersion) ?? {};
  return findDifference(desired, live, owned, builtInShape(apiVersion, kind));
}

function changed<T>(object: T, ...operations: readonly JsonPatchOperation[]): T {
  return applyJsonPatch(object, operations) as T;
}

const replace = (path: string, value: unknown): JsonPatchOperation => ({ op: 'replace', path, value });
const add = (path: string, value: unknown): JsonPatchOperation => ({ op: 'add', path, value });
const remove = (path: string): JsonPatchOperation => ({ op: 'remove', path });

describe('findDifference, on recorded objects', () => {
  it.each(recorded.map(({ live }) => live.kind ?? ''))(
    'finds no difference when the same %s is applied again',
    (kind) => {
      const { desired, live } = sample(kind);
      expect(difference(desired, live)).toBeUndefined();
    },
  );

  const pod = '/spec/template/spec';
  const podPath = '.spec.template.spec';
  it.each<[what: string, kind: string, change: JsonPatchOperation, path: string, why: string]>([
    ['a changed scalar', 'Deployment', replace('/spec/replicas', 2), '.spec.replicas', 'value'],
    ['a dropped field', 'Deployment', remove('/spec/replicas'), '.spec.replicas', 'dropped'],
    ['an added field', 'Deployment', add('/spec/revisionHistoryLimit', 3), '.spec.revisionHistoryLimit', 'owner'],
    [
      'a field of an element',
      'Deployment',
      replace(`${pod}/containers/1/image`, 'a'),
      `${podPath}.containers[{"name":"helper"}].image`,
      'value',
    ],
    [
      'a dropped element',
      'Deployment',
      remove(`${pod}/containers/1`),
      `${podPath}.containers[{"name":"helper"}]`,
      'dropped',
    ],
    [
      'an added element',
      'Deployment',
      add(`${pod}/containers/-`, { name: 'more', image: 'a' }),
      `${podPath}.containers`,
      'owner',
    ],
    [
      'another order of init containers',
      'Deployment',
      { op: 'move', from: `${pod}/initContainers/0`, path: `${pod}/initContainers/1` },
      `${podPath}.initContainers`,
      'order',
    ],
    [
      'a member dropped inside an atomic list',
      'Deployment',
      remove(`${pod}/tolerations/1/effect`),
      `${podPath}.tolerations`,
      'value',
    ],
    [
      'a default overridden inside an atomic list',
      'StatefulSet',
      add('/spec/volumeClaimTemplates/0/spec/volumeMode', 'Block'),
      '.spec.volumeClaimTemplates',
      'value',
    ],
    ['a dropped map entry', 'ConfigMap', remove('/data/a'), '.data.a', 'dropped'],
    ['an emptied map', 'ConfigMap', replace('/data', {}), '.data.a', 'dropped'],
    ['a changed label selector', 'Service', add('/spec/selector/more', 'a'), '.spec.selector', 'value'],
    ['all labels dropped', 'Service', remove('/metadata/labels'), '.metadata', 'dropped'],
    [
      'the same number in another type',
      'Service',
      replace('/spec/ports/0/targetPort', '53'),
      '.spec.ports[{"port":53,"protocol":"TCP"}].targetPort',
      'value',
    ],
    ['another secret value', 'Secret', replace('/data/a', 'YWJj'), '.data.a', 'value'],
  ])('finds %s in a %s', (_, kind, change, path, why) => {
    const { desired, live } = sample(kind);
    expect(difference(changed(desired, change), live)).toEqual({ path, why });
  });

  it.each<[what: string, kind: string, change: JsonPatchOperation]>([
    ['a quantity in another form', 'Deployment', replace(`${pod}/containers/0/resources/limits/memory`, '1Gi')],
    ['a quantity as a number', 'Deployment', replace(`${pod}/containers/0/resources/requests/cpu`, 1)],
    [
      'a default set explicitly inside an atomic list',
      'StatefulSet',
      add('/spec/volumeClaimTemplates/0/spec/volumeMode', 'Filesystem'),
    ],
    ['an empty list without an owner', 'ConfigMap', add('/metadata/finalizers', [])],
    ['a time in another zone', 'Lease', replace('/spec/renewTime', '2026-01-01T00:00:00.5Z')],
    ['unfolded base64', 'Secret', replace('/data/a', 'YWJjZGVm')],
    ['a system field of metadata', 'ConfigMap', add('/metadata/uid', 'a')],
  ])('finds no difference for %s in a %s', (_, kind, change) => {
    const { desired, live } = sample(kind);
    expect(difference(changed(desired, change), live)).toBeUndefined();
  });

  it('finds a field that another manager took over and set to the same value', () => {
    const { desired, live } = sample('Deployment');
    const lost = changed(live, remove('/metadata/managedFields/0/fieldsV1/f:spec/f:replicas'));
    expect(difference(desired, lost)).toEqual({ path: '.spec.replicas', why: 'owner' });
  });

  it('finds a difference when the manager never applied, or applied in another version', () => {
    const { desired, live } = sample('Deployment');
    expect(difference(desired, live, 'other')?.why).toBe('owner');
    expect(appliedFields(live, 'm', 'apps/v1beta1')).toBeUndefined();
    expect(appliedFields(live, 'm', 'apps/v1', 'status')).toBeUndefined();
  });
});

describe('findDifference, without recorded objects', () => {
  it.each<[what: string, desired: JsonObject, live: JsonObject, owned: FieldsV1, why: string | undefined]>([
    [
      'a set in the same order',
      { a: ['x', 'y'] },
      { a: ['z', 'x', 'y'] },
      { 'f:a': { 'v:"x"': {}, 'v:"y"': {} } },
      undefined,
    ],
    ['a set in another order', { a: ['y', 'x'] }, { a: ['x', 'y'] }, { 'f:a': { 'v:"x"': {}, 'v:"y"': {} } }, 'order'],
    ['an element that is missing from a set', { a: ['x'] }, { a: [] }, { 'f:a': { 'v:"x"': {} } }, 'value'],
    [
      'an element dropped from a set',
      { a: ['x'] },
      { a: ['x', 'y'] },
      { 'f:a': { 'v:"x"': {}, 'v:"y"': {} } },
      'dropped',
    ],
    ['elements owned by their index', { a: ['x'] }, { a: ['x'] }, { 'f:a': { 'i:0': {} } }, 'unclear'],
    ['a list of an unknown kind, as a whole', { a: [{ b: 1 }] }, { a: [{ b: 1 }] }, { 'f:a': {} }, undefined],
    ['a longer list of an unknown kind', { a: [1, 2] }, { a: [1] }, { 'f:a': {} }, 'value'],
    ['a field that is undefined', { a: 1, b: undefined }, { a: 1 }, { 'f:a': {} }, undefined],
    ['null where nothing is stored', { a: null }, {}, { 'f:a': {} }, undefined],
    ['null where something is stored', { a: null }, { a: 1 }, { 'f:a': {} }, 'value'],
    ['an empty map where nothing is stored', { a: {} }, {}, { 'f:a': {} }, undefined],
    ['a map that was empty when it was applied', { a: { b: 1 } }, { a: {} }, { 'f:a': {} }, 'value'],
    ['a scalar that became an object', { a: 1 }, { a: { b: 1 } }, { 'f:a': { 'f:b': {} } }, 'value'],
    [
      'an element whose key could be one of two',
      { a: [{ p: 1 }] },
      {
        a: [
          { p: 1, q: 'x' },
          { p: 1, q: 'y' },
        ],
      },
      { 'f:a': { 'k:{"p":1,"q":"x"}': { 'f:p': {} }, 'k:{"p":1,"q":"y"}': { 'f:p': {} } } },
      'unclear',
    ],
    [
      'the same element twice',
      { a: [{ p: 1 }, { p: 1 }] },
      { a: [{ p: 1 }] },
      { 'f:a': { 'k:{"p":1}': { 'f:p': {} } } },
      'unclear',
    ],
    [
      'a member with the name of a prototype member',
      { constructor: 'a' },
      { constructor: 'a' },
      { 'f:constructor': {} },
      undefined,
    ],
    ['an unowned member with such a name', { constructor: 'a' }, { constructor: 'a' }, {}, 'owner'],
  ])('compares %s', (_, desired, live, owned, why) => {
    expect(findDifference(desired, live, owned)?.why).toBe(why);
  });

  it('applies the defaults of a custom resource inside an atomic list, and knows the shape of its metadata', () => {
    const schema: StructuralSchema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            rules: {
              type: 'array',
              items: {
                type: 'object',
                properties: { from: { type: 'string' }, mode: { type: 'string', default: 'Copy' } },
              },
            },
          },
        },
      },
    };
    const shape = customShape(schema);
    const owned: FieldsV1 = { 'f:spec': { 'f:rules': {} } };
    const desired = { spec: { rules: [{ from: 'a' }] } };
    expect(findDifference(desired, { spec: { rules: [{ from: 'a', mode: 'Copy' }] } }, owned, shape)).toBeUndefined();
    expect(findDifference(desired, { spec: { rules: [{ from: 'a', mode: 'Move' }] } }, owned, shape)?.why).toBe(
      'value',
    );
    expect(shape.member('metadata')?.member('ownerReferences')?.granular).toBe(true);
  });

  it('detects that a granular map was empty when it was applied', () => {
    const shape = customShape({
      type: 'object',
      properties: { map: { type: 'object', additionalProperties: { type: 'string' } } },
    });
    expect(findDifference({ map: { a: 'b' } }, { map: { a: 'b' } }, { 'f:map': {} }, shape)?.why).toBe('owner');
  });
});
