import { cluster } from '@bowline/control-plane/testing';
import { CustomResourceDefinition, type KubernetesObject, type Resource, resource } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it, vi } from 'vitest';
import { mergeConditions } from '../writing/conditions.ts';
import { ObservedClient } from '../writing/observed-client.test-support.ts';
import type { CustomResource } from './custom-resource.ts';
import { defineResource } from './define-resource.ts';
import { installCustomResourceDefinitions } from './install-crds.ts';

const spec = s.object({ size: s.integer().min(1).default(3), color: s.enum(['red', 'blue']).optional() });
const names = { group: 'install.test.bowline.dev', version: 'v1', kind: 'Widget', scope: 'Namespaced' } as const;
const Widget = defineResource({
  ...names,
  shortNames: ['wdg'],
  spec: spec.rule('!has(self.color) || self.size < 9', { message: 'colored ones are small', fieldPath: '.color' }),
  status: s.object({}),
  columns: [{ name: 'Size', path: '.spec.size' }],
  selectableFields: ['.spec.color'],
});

async function setUp(...resources: readonly CustomResource[]) {
  const c = await cluster({ prefix: 'install' });
  for (const { crd } of resources) {
    c.onDispose(() =>
      c.admin.delete(CustomResourceDefinition, { name: crd.metadata?.name ?? '' }).catch(() => undefined),
    );
  }
  return c;
}

describe('installing a kind', () => {
  it('creates it, does not write it if nothing changes, updates it, and rejects the removal of a version', async () => {
    await using c = await setUp(Widget);
    const name = 'widgets.install.test.bowline.dev';
    expect(await installCustomResourceDefinitions(c.admin, [Widget])).toEqual([{ name, outcome: 'created' }]);
    const made = await c.admin.create(
      Widget,
      Widget.withDefaults({ metadata: { name: 'a', namespace: c.namespace }, spec: {} }),
    );
    expect(made.spec).toEqual({ size: 3 });
    await expect(
      c.admin.create(
        Widget,
        Widget.withDefaults({ metadata: { name: 'b', namespace: c.namespace }, spec: { size: 9, color: 'red' } }),
      ),
    ).rejects.toThrow(/colored ones are small/);

    expect(await installCustomResourceDefinitions(c.admin, [Widget])).toEqual([{ name, outcome: 'unchanged' }]);

    const Newer = defineResource({
      ...names,
      spec,
      status: s.object({}),
      otherVersions: [{ version: 'v1beta1', spec, status: s.object({}) }],
    });
    expect(await installCustomResourceDefinitions(c.admin, [Newer])).toEqual([{ name, outcome: 'configured' }]);

    await expect(installCustomResourceDefinitions(c.admin, [Widget])).rejects.toMatchObject({
      code: 'BOWLINE_CRD_VERSION_LOST',
      message: expect.stringContaining('has v1beta1, which the new one lacks'),
    });
  });

  it('keeps the status of an object when it is written in another version', async () => {
    const Versioned = defineResource({
      ...names,
      kind: 'Versioned',
      spec,
      status: s.object({}),
      otherVersions: [{ version: 'v1beta1', spec, status: s.object({}) }],
    });
    await using c = await setUp(Versioned);
    await installCustomResourceDefinitions(c.admin, [Versioned]);
    const key = { namespace: c.namespace, name: 'a' };
    await c.admin.create(Versioned, Versioned.withDefaults({ metadata: key, spec: {} }));
    const [condition] = mergeConditions([], [{ type: 'Ready', status: true, reason: 'Done', message: '' }], {
      now: 0,
      generation: 1,
    });
    const status = { observedGeneration: 1, conditions: [condition] };
    await c.admin.patch(Versioned, key, { type: 'merge', body: { status } }, { subresource: 'status' });
    const older = resource({ ...Versioned, version: 'v1beta1' });
    await c.admin.patch(older, key, { type: 'merge', body: { spec: { size: 4 } } });
    expect(await c.admin.get(Versioned, key)).toMatchObject({ spec: { size: 4 }, status });
  });

  it('does not change a definition of another author until it is handed over', async () => {
    const Foreign = defineResource({ ...names, kind: 'Foreign', categories: ['all', 'parts'], spec });
    await using c = await setUp(Foreign);
    const name = 'foreigns.install.test.bowline.dev';
    const theirs = foreignTo(Foreign);
    await c.admin.create(CustomResourceDefinition, theirs, { fieldManager: 'another-tool' });
    await c.until(CustomResourceDefinition, { name }, isEstablished);
    const object = { metadata: { namespace: c.namespace, name: 'a' }, spec: { theirs: 'kept' } };
    const stored: Resource<KubernetesObject> = Foreign;
    await vi.waitFor(() => c.admin.create(stored, object), { timeout: 20_000 });
    await expect(installCustomResourceDefinitions(c.admin, [Foreign])).rejects.toMatchObject({
      code: 'BOWLINE_CRD_FOREIGN',
      message: expect.stringMatching(
        /foreigns\.install.*is not ours \(.*another-tool.*has spec\.theirs, which.*hand it over by adding "parts"/,
      ),
    });
    const left = await c.admin.get(CustomResourceDefinition, { name });
    expect(left.spec.versions[0]?.schema).toEqual(theirs.spec.versions[0]?.schema);
    expect(await c.admin.get(stored, { namespace: c.namespace, name: 'a' })).toMatchObject({ spec: object.spec });

    const handOver = { spec: { names: { categories: ['parts'] } } };
    await c.admin.patch(CustomResourceDefinition, { name }, { type: 'merge', body: handOver });
    expect(await installCustomResourceDefinitions(c.admin, [Foreign])).toEqual([{ name, outcome: 'configured' }]);
  });

  it('reports how to hand over a definition of a kind without categories', async () => {
    const Plain = defineResource({ ...names, kind: 'Plain', spec });
    await using c = await setUp(Plain);
    const key = { name: 'plains.install.test.bowline.dev' };
    await c.admin.create(CustomResourceDefinition, foreignTo(Plain), { fieldManager: 'another-tool' });
    await expect(installCustomResourceDefinitions(c.admin, [Plain])).rejects.toMatchObject({
      code: 'BOWLINE_CRD_FOREIGN',
      message: expect.stringMatching(/--field-manager=install-test-bowline-crds/),
    });
    const applied = { type: 'apply', body: Plain.crd, force: true } as const;
    await c.admin.patch(CustomResourceDefinition, key, applied, { fieldManager: 'install-test-bowline-crds' });
    expect(await installCustomResourceDefinitions(c.admin, [Plain])).toEqual([{ ...key, outcome: 'unchanged' }]);
  });

  it('does not overwrite a definition that is created just before the write', async () => {
    const Late = defineResource({ ...names, kind: 'Late', spec });
    await using c = await setUp(Late);
    const client = new ObservedClient(c.admin);
    client.before('patch', () => c.admin.create(CustomResourceDefinition, foreignTo(Late)));
    const { list, raw } = c.admin;
    const both = Object.assign(client, { list: list.bind(c.admin), raw: raw.bind(c.admin) });
    await expect(installCustomResourceDefinitions(both, [Late])).rejects.toMatchObject({ code: 'BOWLINE_CRD_FOREIGN' });
    expect(client.verbs()).toBe('find apply find');
  });

  it('takes over a definition that another tool installed if no fields are lost', async () => {
    const Applied = defineResource({ ...names, kind: 'Applied', spec });
    await using c = await setUp(Applied);
    const name = 'applieds.install.test.bowline.dev';
    await c.admin.create(CustomResourceDefinition, Applied.crd, { fieldManager: 'kubectl' });
    expect(await installCustomResourceDefinitions(c.admin, [Applied])).toEqual([{ name, outcome: 'configured' }]);
    expect(await installCustomResourceDefinitions(c.admin, [Applied])).toEqual([{ name, outcome: 'unchanged' }]);
  });
});

/**
 * foreignTo returns a definition by another author with the names and the version of a kind: with another category and
 * other fields.
 */
function foreignTo({ crd }: CustomResource): CustomResourceDefinition {
  const { categories, ...others } = crd.spec.names;
  const theirSpec = { type: 'object', properties: { theirs: { type: 'string' } } } as const;
  const openAPIV3Schema = { type: 'object', properties: { spec: theirSpec } } as const;
  const versions = [{ name: names.version, served: true, storage: true, schema: { openAPIV3Schema } }];
  return { ...crd, spec: { ...crd.spec, names: { ...others, ...(categories && { categories: ['all'] }) }, versions } };
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') ?? false;
}
