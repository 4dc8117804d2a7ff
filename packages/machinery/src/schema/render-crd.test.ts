import { describe, expect, it } from 'vitest';
import { s } from './builder/s.ts';
import { copies, devices, gateways, sampleKinds, servers } from './fixtures/sample-kinds.ts';
import { renderCustomResourceDefinition } from './render-crd.ts';
import { renderKindPage } from './render-kind-page.ts';
import { pluralOf, type ResourceDefinition } from './resource-definition.ts';

const minimal = { group: 'example.com', version: 'v1', kind: 'Site', scope: 'Namespaced' } as const;

describe('renderCustomResourceDefinition', () => {
  it('names the kind, with the categories that were given', () => {
    const { metadata, spec } = renderCustomResourceDefinition(servers);
    expect(metadata?.name).toBe('identityservers.identity.example.com');
    expect(spec.names).toEqual({
      kind: 'IdentityServer',
      listKind: 'IdentityServerList',
      plural: 'identityservers',
      singular: 'identityserver',
      categories: ['identity'],
    });
    expect(renderCustomResourceDefinition(minimal).spec.names).not.toHaveProperty('categories');
  });

  it('stores the first version unless another one sets storage', () => {
    const versions = renderCustomResourceDefinition(servers).spec.versions;
    expect(versions.map(({ name, storage, served }) => [name, storage, served])).toEqual([
      ['v1', true, true],
      ['v1alpha1', false, true],
    ]);
    expect(versions[1]).toMatchObject({ deprecated: true, deprecationWarning: expect.stringContaining('use v1') });
  });

  it('adds an Age column and derives the types of the others from the schema', () => {
    const [version] = renderCustomResourceDefinition(copies).spec.versions;
    expect(version?.additionalPrinterColumns?.map(({ name, type }) => [name, type])).toEqual([
      ['Source', 'string'],
      ['Synced', 'integer'],
      ['Ready', 'string'],
      ['LastSync', 'date'],
      ['Age', 'date'],
    ]);
    expect(version?.selectableFields).toEqual([{ jsonPath: '.spec.sourceNamespace' }, { jsonPath: '.spec.paused' }]);
  });

  it('has only the subresources that are defined', () => {
    const subresources = (kind: ResourceDefinition) =>
      renderCustomResourceDefinition(kind).spec.versions[0]?.subresources;
    expect(subresources(devices)).toBeUndefined();
    expect(subresources(copies)).toEqual({ status: {} });
    expect(subresources(servers)).toEqual({
      status: {},
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    });
  });

  it('requires the spec unless it is optional, and has the same text every time', () => {
    const root = renderCustomResourceDefinition(gateways).spec.versions[0]?.schema?.openAPIV3Schema;
    expect(root).toMatchObject({ required: ['spec'] });
    expect(JSON.stringify(renderCustomResourceDefinition(gateways))).toBe(
      JSON.stringify(renderCustomResourceDefinition(gateways)),
    );
  });

  it.each([
    ['Site', 'sites'],
    ['Policy', 'policies'],
    ['Gateway', 'gateways'],
    ['Box', 'boxes'],
    ['Address', 'addresses'],
  ])('forms the plural of %s: %s', (kind, plural) => {
    expect(pluralOf({ kind })).toBe(plural);
  });

  it.each<[string, ResourceDefinition, RegExp]>([
    ['a group without a dot', { ...minimal, group: 'example' }, /the group "example" is not a domain name/],
    ['a kind in lower case', { ...minimal, kind: 'site' }, /does not start with a capital letter/],
    ['a short name with a capital', { ...minimal, shortNames: ['S'] }, /the short name "S" is not a valid name/],
    [
      'a column of a field that does not exist',
      { ...minimal, spec: s.object({ a: s.string() }), columns: [{ name: 'B', path: '.spec.b' }] },
      /the path .spec.b of the column B has no field "b"; known fields are a/,
    ],
    ['a column without a dot', { ...minimal, columns: [{ name: 'B', path: 'spec.b' }] }, /must start with a dot/],
    [
      'a selectable object',
      { ...minimal, spec: s.object({ a: s.object({}) }), selectableFields: ['.spec.a'] },
      /must be a string, a boolean or an integer/,
    ],
    ['a selectable field of metadata', { ...minimal, selectableFields: ['.metadata.labels'] }, /is in metadata/],
    [
      'a scale path of type string',
      {
        ...minimal,
        spec: s.object({ a: s.string() }),
        scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.spec.a' },
      },
      /.spec.a must be of type integer/,
    ],
    [
      'a spec that is not an object',
      { ...minimal, spec: s.string() },
      /the spec is of type string; it must be an object/,
    ],
    [
      'a root rule about labels',
      { ...minimal, rules: [{ rule: "'a' in self.metadata.labels" }] },
      /undefined field 'labels'; known fields are name, generateName/,
    ],
    [
      'two stored versions',
      {
        ...minimal,
        versions: [
          { version: 'v1', storage: true },
          { version: 'v2', storage: true },
        ],
      },
      /2 versions are stored/,
    ],
    ['a version twice', { ...minimal, versions: [{ version: 'v1' }, { version: 'v1' }] }, /defined twice/],
    ['a warning in two lines', { ...minimal, deprecated: 'a\nb' }, /one line/],
  ])('rejects %s', (_, definition, message) => {
    expect(() => renderCustomResourceDefinition(definition)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_CRD_INVALID', message: expect.stringMatching(message) }),
    );
  });
});

describe('renderKindPage', () => {
  it('shows every field with type, default, bounds and rules', () => {
    const page = renderKindPage(copies);
    expect(page).toContain(
      '| `spec.direction` | string | `"OneWay"` | Must be: one of `"OneWay"` `"Bidirectional"`. |',
    );
    expect(page).toContain('| `spec.sourceNamespace` | string | **required** | The namespace of the source.');
    expect(page).toContain('| `spec.destinations` | list (one per namespace and name) of object |');
    expect(page).toContain('For each item: Rule: `[has(self.rename), has(self.prefix), has(self.set)]');
    expect(page).toContain(
      "- Rule: `self.conflictPolicy != 'NewestWins' || self.direction == 'Bidirectional'` (NewestWins needs direction Bidirectional).",
    );
    expect(page).toContain('- `.spec.paused`');
  });

  it.each(sampleKinds.map((kind) => [kind.kind, kind] as const))(
    'renders valid tables whatever the texts contain: %s',
    (_, kind) => {
      const rows = renderKindPage(kind)
        .split('\n')
        .filter((line) => line.startsWith('|'));
      const columns = rows.map((row) => row.replace(/\\\|/g, '').split('|').length);
      for (const [index, row] of rows.entries()) {
        if (row.startsWith('| ---')) expect(columns[index]).toBe(columns[index - 1]);
        else if (index > 0 && rows[index - 1]?.startsWith('| ---')) expect(columns[index]).toBe(columns[index - 1]);
      }
    },
  );

  it('renders a section for each of several versions', () => {
    const page = renderKindPage(servers);
    expect(page).toContain('## Version v1\n');
    expect(page).toContain('## Version v1alpha1\n\nDeprecated: identity.example.com/v1alpha1');
    expect(page).toContain('`v1alpha1` (deprecated)');
  });
});
