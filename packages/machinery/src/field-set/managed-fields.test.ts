import type { KubernetesObject } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { hasField, parseFieldsV1, parsePathElement } from './fields-v1.ts';
import { fieldManagers, managersOf } from './managed-fields.ts';
import { ownedValues } from './owned-values.ts';

describe('parseFieldsV1', () => {
  it('accepts every kind of path element', () => {
    const fields = { 'f:a': { '.': {}, 'k:{"name":"x"}': { 'f:b': {} }, 'v:"y"': {}, 'i:3': {} } };
    expect(parseFieldsV1(fields)).toBe(fields);
    expect(parsePathElement('k:{"port":80}')).toEqual({ type: 'key', key: { port: 80 } });
    expect(parsePathElement('v:3')).toEqual({ type: 'value', value: 3 });
    expect(parsePathElement('i:3')).toEqual({ type: 'index', index: 3 });
  });

  it.each([[null], ['f:a'], [[]], [{ a: {} }], [{ 'f:a': 1 }], [{ 'k:name': {} }], [{ 'v:{': {} }], [{ 'i:x': {} }]])(
    'rejects %j',
    (fields) => {
      expect(parseFieldsV1(fields)).toBeUndefined();
    },
  );
});

describe('hasField', () => {
  const fields = { 'f:spec': { 'f:a': { '.': {}, 'f:b': {} }, 'f:atomic': {} } };
  it.each([
    [['spec'], true],
    [['spec', 'a', 'b'], true],
    [['spec', 'a', 'c'], false],
    [['spec', 'atomic', 'anything'], true],
    [['status'], false],
    [[], true],
  ])('for %j returns %j', (path, answer) => {
    expect(hasField(fields, path)).toBe(answer);
  });

  it('returns false for an empty set', () => {
    expect(hasField({}, [])).toBe(false);
    expect(hasField({}, ['a'])).toBe(false);
  });
});

describe('ownedValues', () => {
  it('extracts the fields of the set, with keys and in order', () => {
    const object = {
      spec: {
        replicas: 1,
        ports: [
          { port: 80, protocol: 'TCP', nodePort: 30_000 },
          { port: 81, protocol: 'TCP', name: 'b' },
        ],
        tags: ['x', 'y'],
        atomic: { a: 1, b: 2 },
        list: ['a', { b: 1, c: 2 }],
      },
    };
    const fields = {
      'f:spec': {
        'f:ports': { 'k:{"port":81,"protocol":"TCP"}': { '.': {}, 'f:name': {} } },
        'f:tags': { 'v:"y"': {} },
        'f:atomic': {},
        'f:list': { 'i:1': { 'f:c': {} } },
        'f:gone': {},
      },
    };
    expect(ownedValues(object, fields)).toEqual({
      spec: {
        ports: [{ port: 81, protocol: 'TCP', name: 'b' }],
        tags: ['y'],
        atomic: { a: 1, b: 2 },
        list: [{ c: 2 }],
      },
    });
  });
});

describe('managersOf', () => {
  const object: KubernetesObject = {
    metadata: {
      managedFields: [
        {
          manager: 'kubectl',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:a': {} } },
        },
        {
          manager: 'me',
          operation: 'Apply',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:a': {}, 'f:b': {} } },
        },
        {
          manager: 'me',
          operation: 'Update',
          apiVersion: 'v1',
          subresource: 'status',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:a': {} } },
        },
        { manager: 'broken', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { spec: {} } },
        {
          manager: 'future',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV2',
          fieldsV1: { 'f:spec': {} },
        },
      ],
    },
  };

  it('returns each manager of a field once', () => {
    expect(managersOf(object, ['spec', 'a'])).toEqual(['kubectl', 'me']);
    expect(managersOf(object, ['spec', 'b'])).toEqual(['me']);
    expect(managersOf(object, ['spec', 'c'])).toEqual([]);
    expect(managersOf({}, ['spec'])).toEqual([]);
  });

  it('skips entries that cannot be parsed', () => {
    expect(fieldManagers(object).map(({ manager, subresource }) => `${manager}/${subresource}`)).toEqual([
      'kubectl/',
      'me/',
      'me/status',
    ]);
  });
});
