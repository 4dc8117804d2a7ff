import { ConfigMap, Secret } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { expect, it, vi } from 'vitest';
import { cluster } from './cluster.ts';

const seals = controller(ConfigMap, { name: 'seals', labelSelector: 'seal' })
  .applies(Secret)
  .reconcile(async ({ key, apply }) => void (await apply(Secret, { metadata: key })));
const operator = defineOperator({ name: 'seals', controllers: [seals] });

it('takes a right from an operator, and lets a test see its calls', async () => {
  const asked: string[] = [];
  await using c = await cluster({
    operators: [operator],
    rights: (manifests) =>
      manifests.map((each) =>
        'rules' in each
          ? { ...each, rules: each.rules?.filter(({ resources }) => !resources?.includes('secrets')) ?? [] }
          : each,
      ),
    through: (client) => client.checked(({ verb, resource }) => void asked.push(`${verb} ${resource?.plural}`)),
  });
  await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name: 'a', labels: { seal: 'x' } } });
  await vi.waitFor(() => expect(asked).toContain('get secrets'), { timeout: 20_000, interval: 20 });
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

it('ends the start when told to', async () => {
  const stop = new AbortController();
  const given = new Error('enough');
  const operators = [operator];
  const starting = cluster({
    operators,
    signal: stop.signal,
    rights: (manifests) => {
      stop.abort(given);
      return manifests;
    },
  });
  await expect(starting).rejects.toBe(given);
});
