import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, type ObjectKey, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, test } from 'vitest';
import { defineOperator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { defineResource } from '../resource/define-resource.ts';
import { findCondition } from '../writing/conditions.ts';
import { controller } from './builder.ts';

const Desk = defineResource({
  group: 'names.test.bowline.dev',
  version: 'v1',
  kind: 'Desk',
  scope: 'Namespaced',
  spec: s.object({ child: s.string() }),
  status: s.object({}),
});

const desks = controller(Desk)
  .owns(ConfigMap, { names: ['settings'], remove: true })
  .applies(Secret, { names: ['password'] })
  .reconcile(async ({ object, key, apply, createOnce, remove }) => {
    const { child } = object.spec;
    const settings = { ...key, name: child };
    if (child === 'removed') await remove(ConfigMap, { ...key, name: 'settings' });
    else await apply(ConfigMap, { metadata: settings, data: { from: key.name } });
    await createOnce(Secret, { ...key, name: 'password' }, () => ({ type: 'Opaque', data: {} }));
  });

test('writes objects of the declared names with rights for these names only, and rejects others', async () => {
  const operator = defineOperator({
    name: 'desks',
    domain: 'bowline.dev',
    resources: [Desk],
    controllers: [desks],
    // A right to send a POST cannot be limited to names.
    permissions: [allow(['create'], Secret)],
  });
  await using c = await cluster({ operators: [operator] });
  const named = (name: string): ObjectKey => ({ namespace: c.namespace, name });
  await c.admin.create(Desk, Desk.withDefaults({ metadata: named('a'), spec: { child: 'settings' } }));
  await c.until(ConfigMap, { name: 'settings' }, ({ data }) => data?.from === 'a');
  await c.until(Secret, { name: 'password' }, () => true);

  await c.admin.patch(Desk, named('a'), { type: 'merge', body: { spec: { child: 'other' } } });
  const { status } = await c.until(Desk, { name: 'a' }, (each) => findCondition(each, 'Ready')?.status === 'False');
  expect(findCondition({ status }, 'Ready')?.message).toBe(
    `cannot apply ConfigMap ${c.namespace}/other: .owns or .applies declares ConfigMap with the names settings only; add the name to "names", or omit "names"`,
  );
  expect(await c.admin.find(ConfigMap, named('other'))).toBeUndefined();

  await c.admin.patch(Desk, named('a'), { type: 'merge', body: { spec: { child: 'removed' } } });
  await c.untilGone(ConfigMap, named('settings'));
});
