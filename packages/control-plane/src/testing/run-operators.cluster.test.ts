import { ConfigMap, keyOf, keyString, parseKey, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { allow, controller, defineOperator, keyed } from '@bowline/runtime';
import { expect, it, vi } from 'vitest';
import { cluster } from './cluster.ts';

const seals = controller(ConfigMap, { name: 'seals', labelSelector: 'seal' })
  .applies(Secret)
  .reconcile(async ({ key, apply }) => void (await apply(Secret, { metadata: key })));
const operator = defineOperator({ name: 'seals', domain: 'bowline.dev', controllers: [seals] });

it('can remove a permission from an operator, and shows its requests to the test', async () => {
  const requests: string[] = [];
  await using c = await cluster({
    operators: [operator],
    modifyRbac: (manifests) =>
      manifests.map((each) =>
        'rules' in each
          ? { ...each, rules: each.rules?.filter(({ resources }) => !resources?.includes('secrets')) ?? [] }
          : each,
      ),
    wrapClient: (client) => client.checked(({ verb, resource }) => void requests.push(`${verb} ${resource?.plural}`)),
  });
  await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'a', labels: { seal: 'x' } } });
  await vi.waitFor(() => expect(requests).toContain('get secrets'), { timeout: 20_000, interval: 20 });
  await vi.waitFor(
    async () => {
      const events = await c.controlPlane.audit();
      const own = events.filter(({ user }) =>
        user.username?.startsWith(`system:serviceaccount:${c.managerNamespace}:`),
      );
      const refused = own.filter(({ responseStatus }) => responseStatus?.code === 403);
      expect(new Set(refused.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`))).toEqual(
        new Set(['get secrets']),
      );
    },
    { timeout: 20_000, interval: 100 },
  );
});

it('grants an operator the permissions that its configuration requires, and lets keyed work record events', async () => {
  const sweep = keyed('sweep')
    .watches(ConfigMap, { labelSelector: 'sweep', view: 'metadata', map: (object) => [keyString(keyOf(object))] })
    .reports(ConfigMap)
    .reconcile(async ({ key, get, live, eventAbout }) => {
      const found = get(ConfigMap, parseKey(key));
      if (!found) return;
      const { namespace, name = '', uid = '' } = found.metadata;
      const subject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, uid } };
      eventAbout(subject, 'Normal', 'Swept', 'it was in the way');
      await live.delete(ConfigMap, parseKey(key));
    });
  const sweeper = defineOperator({
    name: 'sweeper',
    domain: 'bowline.dev',
    controllers: [sweep],
    config: { parse: (section: unknown) => section as { readonly broom: boolean } },
    permissions: ({ broom }) => (broom ? [allow(['delete'], ConfigMap)] : []),
  });
  await using c = await cluster({ operators: [sweeper], config: { sweeper: { broom: true } } });
  const key = { namespace: c.namespace, name: 'dust' };
  await c.admin.create(ConfigMap, { metadata: { ...key, labels: { sweep: 'x' } } });
  await c.untilGone(ConfigMap, key);
  const [event] = await c.untilList(Event, {}, (events) => events.length > 0);
  expect(event).toMatchObject({ reason: 'Swept', regarding: { kind: 'ConfigMap', name: 'dust' } });
});

it('stops starting when the signal is aborted', async () => {
  const stop = new AbortController();
  const given = new Error('enough');
  const operators = [operator];
  const starting = cluster({
    operators,
    signal: stop.signal,
    modifyRbac: (manifests) => {
      stop.abort(given);
      return manifests;
    },
  });
  await expect(starting).rejects.toBe(given);
});
