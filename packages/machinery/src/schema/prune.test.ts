import { describe, expect, it } from 'vitest';
import { applyDefaults } from './apply-defaults.ts';
import { s } from './builder/s.ts';
import { describeUnknownFields, prune, unknownFields } from './prune.ts';

const schema = s.object({
  known: s.string().optional(),
  list: s.array(s.object({ a: s.string().optional() })).optional(),
  map: s.map(s.object({ a: s.string().optional() })).optional(),
  open: s
    .object({ a: s.object({ b: s.string().optional() }).optional() })
    .preserveUnknown()
    .optional(),
  any: s.unknown().optional(),
  template: s.embedded().optional(),
}).json;

const value = {
  known: 'x',
  extra: 1,
  list: [{ a: 'x', b: 1 }, { a: 'y' }],
  map: { 'k.1': { a: 'x', c: 1 } },
  open: { more: { deep: 1 }, a: { b: 'x', c: 1 } },
  any: { what: ['ever'] },
  template: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n', odd: 1 }, spec: { a: 1 } },
};

describe('prune', () => {
  it('drops unknown fields at every level, and keeps those that the schema preserves', () => {
    expect(prune(value, schema)).toEqual({
      known: 'x',
      list: [{ a: 'x' }, { a: 'y' }],
      map: { 'k.1': { a: 'x' } },
      open: { more: { deep: 1 }, a: { b: 'x' } },
      any: { what: ['ever'] },
      template: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, spec: { a: 1 } },
    });
  });

  it('shares unchanged parts', () => {
    const clean = { known: 'x', any: { a: 1 } };
    expect(prune(clean, schema)).toBe(clean);
    expect((prune(value, schema) as typeof value).any).toBe(value.any);
  });

  it('keeps apiVersion, kind and metadata of a resource', () => {
    const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, extra: 1 };
    expect(prune(object, schema, { isResource: true })).toEqual({
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'a' },
    });
  });

  it('treats a field called __proto__ as data', () => {
    const json = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
    expect(prune(json, schema)).toEqual({});
    expect(unknownFields(json, schema)).toEqual(['__proto__', 'constructor']);
  });
});

describe('unknownFields', () => {
  it('lists the fields that prune drops as the API server does', () => {
    expect(unknownFields(value, schema)).toEqual([
      'extra',
      'list[0].b',
      'map.k.1.c',
      'open.a.c',
      'template.metadata.odd',
    ]);
    expect(describeUnknownFields(['spec.x'])).toEqual(['unknown field "spec.x"']);
  });
});

describe('applyDefaults', () => {
  const defaults = s.object({
    a: s.integer().default(1),
    inner: s.object({ b: s.string().default('x') }).optional(),
    whole: s.object({ c: s.string().default('y') }).default({}),
    list: s.array(s.object({ d: s.boolean().default(true) })).optional(),
    map: s.map(s.object({ e: s.integer().default(2) })).optional(),
    nothing: s.string().nullable().default('z'),
  }).json;

  it('sets absent fields, also inside of existing objects, but creates no objects', () => {
    expect(applyDefaults({ list: [{}], map: { k: {} } }, defaults)).toEqual({
      a: 1,
      whole: { c: 'y' },
      list: [{ d: true }],
      map: { k: { e: 2 } },
      nothing: 'z',
    });
    expect(applyDefaults({ inner: {} }, defaults)).toMatchObject({ inner: { b: 'x' } });
  });

  it('treats null as an absent field unless the field is nullable', () => {
    expect(applyDefaults({ a: null, inner: null, nothing: null }, defaults)).toEqual({
      a: 1,
      whole: { c: 'y' },
      nothing: null,
    });
  });

  it('returns a complete value unchanged', () => {
    const full = { a: 2, whole: { c: 'q' }, nothing: null };
    expect(applyDefaults(full, defaults)).toBe(full);
  });
});
