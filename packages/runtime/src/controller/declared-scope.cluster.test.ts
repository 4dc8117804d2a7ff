import { cluster } from '@bowline/control-plane/testing';
import { Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, test } from 'vitest';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { findCondition } from '../writing/conditions.ts';
import { controller } from './builder.ts';

const Account = defineResource({
  group: 'scope.test.bowline.dev',
  version: 'v1',
  kind: 'Account',
  scope: 'Namespaced',
  spec: s.object({ labelled: s.boolean() }),
  status: s.object({}),
});
const LABEL = 'scope.test.bowline.dev/password';

/** How often a password was generated. */
let made = 0;

const accounts = controller(Account)
  .owns(Secret, { view: 'metadata', labelSelector: LABEL })
  .applies(Secret)
  .reconcile(async ({ object, key, createOnce }) => {
    const labels = object.spec.labelled ? { [LABEL]: 'yes' } : {};
    await createOnce(Secret, key, () => ({
      metadata: { labels },
      type: 'Opaque',
      data: { password: btoa(`${++made}`) },
    }));
  });

test('rejects a child outside the selector of .owns, and never overwrites one that is created once', async () => {
  const operator = defineOperator({
    name: 'accounts',
    domain: 'bowline.dev',
    resources: [Account],
    controllers: [accounts],
  });
  await using c = await cluster({ operators: [operator] });
  const create = (name: string, labelled: boolean) =>
    c.admin.create(Account, Account.withDefaults({ metadata: { namespace: c.namespace, name }, spec: { labelled } }));
  await create('outside', false);
  const refused = await c.until(Account, { name: 'outside' }, (each) => findCondition(each, 'Ready') !== undefined);
  expect(findCondition(refused, 'Ready')?.message).toBe(
    `cannot create Secret ${c.namespace}/outside: .owns(Secret) selects labels ${LABEL}, which it does not match, so its changes would not be observed; make the object match the selector, or widen the selector`,
  );
  expect(await c.admin.find(Secret, { namespace: c.namespace, name: 'outside' })).toBeUndefined();

  await create('inside', true);
  const { data } = await c.until(Secret, { name: 'inside' }, () => true);
  // Without the labels of the selector, it is no longer in the cache.
  const key = { namespace: c.namespace, name: 'inside' };
  await c.admin.patch(Secret, key, { type: 'merge', body: { metadata: { labels: null } } });
  await c.restart();
  await create('last', true);
  await c.until(Secret, { name: 'last' }, () => true);
  await c.idle();
  expect((await c.admin.get(Secret, key)).data).toEqual(data);
});
