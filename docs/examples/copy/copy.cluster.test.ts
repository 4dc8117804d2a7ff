import { type Cluster, cluster, type TestServiceAccount } from '@bowline/control-plane/testing';
import { ConfigMap, type PolicyRule } from '@bowline/kubernetes';
import { Manager } from '@bowline/runtime/manager';
import { expect, it, vi } from 'vitest';
import { COPY_OF, COPY_TO, copy } from './copy.ts';

/** All that the operator may do. */
const clusterRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
];
const rules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** The operator running as a ServiceAccount with just those rights, beside a second namespace to copy to. */
async function setUp() {
  const c = await cluster({ prefix: 'copy' });
  const account = await c.serviceAccount({ rules, clusterRules });
  const manager = new Manager({
    operators: [copy],
    clientFor: () => account.client,
    namespace: c.namespace,
    healthAddress: '0',
    metricsAddress: '0',
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  c.onDispose(async () => {
    stop.abort();
    await running;
  });
  const other = await c.createNamespace('copy-target');
  const source = (data: Record<string, string>, to = other): ConfigMap => ({
    metadata: { namespace: c.namespace, name: 'settings', labels: { [COPY_TO]: to } },
    data,
  });
  const copied = { namespace: other, name: 'settings' };
  return { c, account, source, copied };
}

it('copies a labelled ConfigMap, applies its changes, repairs drift, and deletes the copy with its source', async () => {
  const { c, source, copied } = await setUp();
  await using _ = c;
  await c.admin.create(ConfigMap, source({ color: 'red' }));
  const first = await c.until(ConfigMap, copied, ({ data }) => data?.color === 'red');
  expect(first.metadata?.labels).toEqual({ [COPY_OF]: c.namespace });

  await c.admin.update(ConfigMap, source({ color: 'blue' }));
  await c.until(ConfigMap, copied, ({ data }) => data?.color === 'blue');

  await c.admin.patch(ConfigMap, copied, { type: 'merge', body: { data: { color: 'green', extra: 'x' } } });
  await c.until(ConfigMap, copied, ({ data }) => data?.color === 'blue' && data.extra === undefined);

  await c.admin.delete(ConfigMap, copied);
  await c.until(ConfigMap, copied, ({ metadata }) => metadata?.uid !== first.metadata?.uid);

  await c.admin.delete(ConfigMap, { namespace: c.namespace, name: 'settings' });
  await c.untilGone(ConfigMap, copied);
});

it('moves the copy when the label names another namespace, and deletes it with the label', async () => {
  const { c, source, copied } = await setUp();
  await using _ = c;
  const third = await c.createNamespace('copy-third');
  await c.admin.create(ConfigMap, source({ a: '1' }));
  await c.until(ConfigMap, copied, () => true);
  await c.admin.update(ConfigMap, source({ a: '1' }, third));
  await c.until(ConfigMap, { namespace: third, name: 'settings' }, () => true);
  await c.untilGone(ConfigMap, copied);
  await c.admin.update(ConfigMap, { metadata: { namespace: c.namespace, name: 'settings' }, data: { a: '1' } });
  await c.untilGone(ConfigMap, { namespace: third, name: 'settings' });
});

it('never changes a foreign object', async () => {
  const { c, account, source, copied } = await setUp();
  await using _ = c;
  await c.admin.create(ConfigMap, { metadata: copied, data: { precious: 'yes' } });
  await c.admin.create(ConfigMap, source({ a: '1' }));
  await vi.waitFor(async () => expect(await writesOf(c, account)).toEqual([`create ${copied.namespace} 409`]), waiting);
  await c.admin.delete(ConfigMap, { namespace: c.namespace, name: 'settings' });
  await c.admin.create(ConfigMap, { ...source({ a: '1' }), metadata: { ...source({}).metadata, name: 'other' } });
  await c.until(ConfigMap, { ...copied, name: 'other' }, () => true);
  expect((await c.admin.get(ConfigMap, copied)).data).toEqual({ precious: 'yes' });
});

it('writes nothing in a steady state, also after a restart', async () => {
  const { c, account, source, copied } = await setUp();
  await using _ = c;
  await c.admin.create(ConfigMap, source({ a: '1' }));
  await c.until(ConfigMap, copied, () => true);

  const restarted = new Manager({
    operators: [copy],
    clientFor: () => account.client,
    leaderElection: false,
    healthAddress: '0',
    metricsAddress: '0',
  });
  const stop = new AbortController();
  const running = restarted.run(stop.signal);
  await vi.waitFor(() => {
    expect(restarted.status()[0]?.controllers[0]).toMatchObject({ state: 'running', keys: [] });
  }, waiting);
  stop.abort();
  await running;
  expect(await writesOf(c, account)).toEqual([`create ${copied.namespace} 201`]);
});

const waiting = { timeout: 20_000, interval: 50 };

/** What a ServiceAccount wrote, Leases apart, as the API server recorded it. */
async function writesOf(c: Cluster, { namespace, name }: TestServiceAccount): Promise<string[]> {
  const events = await c.controlPlane.audit();
  return events
    .filter(({ user }) => user.username === `system:serviceaccount:${namespace}:${name}`)
    .filter(({ verb, objectRef }) => objectRef?.resource === 'configmaps' && !['get', 'list', 'watch'].includes(verb))
    .map(({ verb, objectRef, responseStatus }) => `${verb} ${objectRef?.namespace} ${responseStatus?.code}`);
}
