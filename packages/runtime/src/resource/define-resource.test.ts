import type { ObjectOf, Resource } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { StatusOf, WrittenOf } from './custom-resource.ts';
import { defineResource } from './define-resource.ts';

const Site = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  shortNames: ['st'],
  spec: s
    .object({
      title: s.string().minLength(1),
      replicas: s.integer().min(1).max(5).default(1),
      note: s.string().optional(),
    })
    .rule("self.replicas < 5 || self.title != 'big'", { message: 'too big' }),
  status: s.object({ url: s.string().optional() }),
  columns: [{ name: 'Title', path: '.spec.title' }],
  selectableFields: ['.spec.title'],
});

describe('a kind', () => {
  it('is a resource like a built-in one', () => {
    const resource: Resource = Site;
    expect(resource).toMatchObject({ plural: 'sites', id: 'Site.v1.example.com', scope: 'Namespaced' });
    expectTypeOf(Site.id).toEqualTypeOf<'Site.v1.example.com'>();
  });

  it('is typed as read and as written', () => {
    type Spec = ObjectOf<typeof Site>['spec'];
    expectTypeOf<Spec['replicas']>().toEqualTypeOf<number>();
    expectTypeOf<WrittenOf<typeof Site>['spec']>().toEqualTypeOf<{
      readonly title: string;
      readonly replicas?: number | undefined;
      readonly note?: string | undefined;
    }>();
    expectTypeOf<StatusOf<typeof Site>['url']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<StatusOf<typeof Site>['observedGeneration']>().toEqualTypeOf<number | undefined>();
    const Plain = defineResource({ group: 'example.com', version: 'v1', kind: 'Plain', scope: 'Cluster' });
    expectTypeOf<StatusOf<typeof Plain>>().toEqualTypeOf<never>();
    expect(Plain.hasStatus).toBe(false);
  });

  it('withDefaults adds apiVersion, kind and defaults', () => {
    const site = Site.withDefaults({ metadata: { name: 'a' }, spec: { title: 'x' } });
    expect(site).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Site',
      metadata: { name: 'a' },
      spec: { title: 'x', replicas: 1 },
    });
    expectTypeOf(site.spec.replicas).toEqualTypeOf<number>();
  });

  it('validates with defaults applied, and returns the messages of the API server', () => {
    expect(Site.validate({ metadata: { name: 'a' }, spec: { title: 'x' } })).toEqual([]);
    expect(Site.validate({ spec: { title: '', replicas: 9 } }).map(({ field }) => field)).toEqual([
      'spec.title',
      'spec.replicas',
    ]);
    expect(Site.validate({ spec: { title: 'big', replicas: 5 } })).toMatchObject([
      { field: 'spec', message: /too big/ },
    ]);
  });

  it('ignores an unknown field of the old object when it evaluates transition rules', () => {
    const Fixed = defineResource({
      ...names,
      spec: s.object({ title: s.string() }).rule('self == oldSelf', { message: 'cannot be changed' }),
    });
    const old = { metadata: { name: 'a' }, spec: { title: 'x', formerly: 1 } };
    expect(Fixed.validate({ metadata: { name: 'a' }, spec: { title: 'x' } }, { oldObject: old })).toEqual([]);
    expect(Fixed.validate({ metadata: { name: 'a' }, spec: { title: 'y' } }, { oldObject: old })).toMatchObject([
      { field: 'spec', message: /cannot be changed/ },
    ]);
  });

  it('has a definition with the given names and the status fields that the runtime maintains', () => {
    const { names, versions } = Site.crd.spec;
    expect(names).toMatchObject({ shortNames: ['st'] });
    expect(names).not.toHaveProperty('categories');
    expect(versions[0]?.subresources).toEqual({ status: {} });
    const { status } = versions[0]?.schema?.openAPIV3Schema?.properties ?? {};
    expect(Object.keys(status?.properties ?? {})).toEqual(
      expect.arrayContaining(['observedGeneration', 'conditions', 'url']),
    );
  });

  it('may have other versions', () => {
    const { crd } = defineResource({
      group: 'example.com',
      version: 'v1',
      kind: 'Page',
      scope: 'Cluster',
      spec: s.object({}),
      otherVersions: [{ version: 'v1alpha1', deprecated: 'use v1', spec: s.object({}) }],
    });
    expect(crd.spec.versions.map(({ name, storage, served }) => ({ name, storage, served }))).toEqual([
      { name: 'v1', storage: true, served: true },
      { name: 'v1alpha1', storage: false, served: true },
    ]);
  });
});

it('adds the status fields that the runtime maintains to every version of a kind', () => {
  const { crd } = defineResource({
    ...names,
    status: s.object({}),
    otherVersions: [{ version: 'v1beta1', status: s.object({ phase: s.string().optional() }) }],
  });
  const statuses = crd.spec.versions.map(({ schema }) => schema?.openAPIV3Schema?.properties?.status);
  expect(statuses.map((status) => Object.keys(status?.properties ?? {}))).toEqual([
    ['observedGeneration', 'conditions'],
    ['observedGeneration', 'conditions', 'phase'],
  ]);
});

const names = { group: 'example.com', version: 'v1', kind: 'Site', scope: 'Namespaced' } as const;

describe('bad definitions', () => {
  it.each([
    [
      'a group without a dot',
      () => defineResource({ ...names, group: 'example' }),
      'BOWLINE_CRD_INVALID',
      /use one with a dot/,
    ],
    ['a kind in lower case', () => defineResource({ ...names, kind: 'site' }), 'BOWLINE_CRD_INVALID', /capital letter/],
    [
      'a spec that is not an object',
      () => defineResource({ ...names, spec: s.string() }),
      'BOWLINE_CRD_INVALID',
      /must be an object/,
    ],
    [
      'a status that is not an object',
      () => defineResource({ ...names, status: s.string() }),
      'BOWLINE_CRD_INVALID',
      /must be an object/,
    ],
    [
      'a column of a missing field',
      () => defineResource({ ...names, columns: [{ name: 'A', path: '.spec.a' }] }),
      'BOWLINE_CRD_INVALID',
      /column A/,
    ],
    [
      'a selectable field that is missing',
      () => defineResource({ ...names, selectableFields: ['.spec.a'] }),
      'BOWLINE_CRD_INVALID',
      /selectable field .spec.a/,
    ],
    [
      'a version without the status that another one has',
      () => defineResource({ ...names, status: s.object({}), otherVersions: [{ version: 'v1beta1' }] }),
      'BOWLINE_CRD_INVALID',
      /version v1beta1 has no status but v1 has one/,
    ],
    [
      'a version with a status that another one lacks',
      () => defineResource({ ...names, otherVersions: [{ version: 'v1beta1', status: s.object({}) }] }),
      'BOWLINE_CRD_INVALID',
      /version v1 has no status but v1beta1 has one/,
    ],
    [
      'a rule of an unknown field',
      () => defineResource({ ...names, spec: s.object({}), rules: [{ rule: 'self.spec.x > 1' }] }),
      'BOWLINE_CRD_INVALID',
      /x/,
    ],
    [
      'a rule that the API server finds too expensive',
      () =>
        defineResource({
          ...names,
          spec: s.object({
            names: s.array(s.string()).rule("self.all(n, n != 'a' && n != 'b' && n != 'c' && n != 'd')"),
          }),
        }),
      'BOWLINE_CRD_INVALID',
      /cannot define the kind Site of example.com: version v1: properties\[spec\]\.properties\[names\]\.x-kubernetes-validations\[0\]\.rule: the rule "self\.all\(.*\)": estimated rule cost exceeds budget by factor of 1.153433x, so the API server rejects it; add maxLength to self\[\*\], maxItems to self, or simplify it/,
    ],
    [
      'rules that the API server finds too expensive together',
      () => {
        const rules = Array.from({ length: 20 }, () => ({ rule: `self.spec.a.matches('${'a'.repeat(80)}')` }));
        return defineResource({ ...names, spec: s.object({ a: s.string() }), rules });
      },
      'BOWLINE_CRD_INVALID',
      /estimated rule cost total exceeds budget by factor of 1.258293x, .*; add maxLength to self.spec.a/,
    ],
    [
      'a rule that does not compile',
      () => defineResource({ ...names, spec: s.object({ a: s.integer() }).rule('self.a >') }),
      'BOWLINE_SCHEMA_RULE',
      /rule/,
    ],
    [
      'a pattern that is not RE2',
      () => defineResource({ ...names, spec: s.object({ a: s.string().pattern('(?<=a)b') }) }),
      'BOWLINE_SCHEMA_PATTERN',
      /RE2/,
    ],
    [
      'a default that is not valid',
      () => defineResource({ ...names, spec: s.object({ a: s.integer().min(1).default(0) }) }),
      'BOWLINE_SCHEMA_DEFAULT',
      /default/,
    ],
    [
      'bounds that contradict each other',
      () => defineResource({ ...names, spec: s.object({ a: s.integer().min(3).max(2) }) }),
      'BOWLINE_SCHEMA_INVALID',
      /m/,
    ],
  ])('refuses %s', (_, define, code, text) => {
    expect(define).toThrow(expect.objectContaining({ code, message: expect.stringMatching(text) }));
  });
});
