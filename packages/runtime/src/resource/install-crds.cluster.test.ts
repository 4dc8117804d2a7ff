import { cluster } from '@bowline/control-plane/testing';
import { CustomResourceDefinition } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
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
  it('creates it, leaves it alone when nothing changes, updates it, and refuses to take a version away', async () => {
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
      otherVersions: [{ version: 'v1beta1', spec }],
    });
    expect(await installCustomResourceDefinitions(c.admin, [Newer])).toEqual([{ name, outcome: 'configured' }]);

    await expect(installCustomResourceDefinitions(c.admin, [Widget])).rejects.toMatchObject({
      code: 'BOWLINE_CRD_VERSION_LOST',
      message: expect.stringContaining('has v1beta1, which this one lacks'),
    });
  });
});
