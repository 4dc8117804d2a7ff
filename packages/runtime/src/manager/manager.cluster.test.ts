import { type Cluster, cluster, type TestServiceAccount } from '@bowline/control-plane/testing';
import {
  ConfigMap,
  CustomResourceDefinition,
  Lease,
  type PolicyRule,
  Role,
  resource,
  Secret,
} from '@bowline/kubernetes';
import { expect, it, vi } from 'vitest';
import { controller } from '../controller/builder.ts';
import type { Controller } from '../controller/controller.ts';
import { defineOperator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { Manager } from './manager.ts';
import type { ManagerOptions } from './manager-options.ts';

const waiting = { timeout: 30_000, interval: 50 };

const leases: PolicyRule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs: ['get', 'create', 'update'],
};
const configMaps: PolicyRule = {
  apiGroups: [''],
  resources: ['configmaps'],
  verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'],
};

/** start starts a manager as a ServiceAccount. It is stopped with the test, and must stop cleanly. */
function start(
  c: Cluster,
  account: TestServiceAccount,
  controllers: readonly Controller<unknown>[],
  options: Partial<ManagerOptions> = {},
) {
  const manager = new Manager({
    operators: [
      defineOperator({ name: 'demo', domain: 'bowline.dev', controllers, permissions: [allow(['update'], ConfigMap)] }),
    ],
    clientFor: () => account.client,
    namespace: c.namespace,
    healthAddress: '127.0.0.1:0',
    metricsAddress: '0',
    ...options,
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  c.onDispose(end);
  const ready = async (): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${manager.ports.health}/readyz?verbose`);
    return { status: response.status, text: await response.text() };
  };
  return { manager, end, ready };
}

/** marking writes to every ConfigMap labelled `demo` which manager reconciled it. */
function marking(c: Cluster, who: string, before: (name: string) => unknown = () => undefined) {
  return controller(ConfigMap, { name: 'mark', namespaces: [c.namespace], labelSelector: 'demo' }).reconcile(
    async ({ object, live }) => {
      await before(object.metadata?.name ?? '');
      if (object.data?.by) return;
      await live.update(ConfigMap, { ...object, data: { by: who } });
    },
  );
}

const labelled = (c: Cluster, name: string): ConfigMap => ({
  metadata: { namespace: c.namespace, name, labels: { demo: '' } },
});

it('hands over to a warm standby without waiting for the Lease to expire', async () => {
  await using c = await cluster();
  const account = await c.serviceAccount({ rules: [leases, configMaps] });
  await c.admin.create(ConfigMap, labelled(c, 'early'));
  const first = start(c, account, [marking(c, 'first')], { leaderElection: { identity: 'first' } });
  await c.until(ConfigMap, { name: 'early' }, ({ data }) => data?.by === 'first');

  const second = start(c, account, [marking(c, 'second')], { leaderElection: { identity: 'second' } });
  await vi.waitFor(async () => {
    expect(second.manager.status()[0]).toMatchObject({ state: 'standby', holder: 'first' });
    expect(await second.ready()).toMatchObject({ status: 200 });
  }, waiting);

  await first.end();
  const released = await c.admin.get(Lease, { namespace: c.namespace, name: 'bowline-demo' });
  expect(['', undefined, 'second']).toContain(released.spec?.holderIdentity);
  await c.admin.create(ConfigMap, labelled(c, 'late'));
  // Less than the 15 s that a Lease without a release would last.
  await c.until(ConfigMap, { name: 'late' }, ({ data }) => data?.by === 'second', { timeoutMs: 10_000 });
});

it('continues with other keys when one always throws and others never end', async () => {
  await using c = await cluster();
  const account = await c.serviceAccount({ rules: [leases, configMaps] });
  const { manager } = start(
    c,
    account,
    [
      marking(c, 'me', (name) => {
        if (name === 'throws') throw new Error('always');
        return name === 'endless' ? new Promise(() => {}) : undefined;
      }),
      controller(ConfigMap, {
        name: 'stuck',
        namespaces: [c.namespace],
        labelSelector: 'demo',
        timeoutMs: 300,
      }).reconcile(() => new Promise(() => {})),
    ],
    { drainTimeoutMs: 500 },
  );
  for (const name of ['throws', 'fine']) await c.admin.create(ConfigMap, labelled(c, name));
  await c.until(ConfigMap, { name: 'fine' }, ({ data }) => data?.by === 'me');
  await vi.waitFor(() => {
    const [mark, stuck] = manager.status()[0]?.controllers ?? [];
    expect(mark?.keys).toMatchObject([{ key: `${c.namespace}/throws`, failures: expect.any(Number) }]);
    expect(stuck?.overdueKeys.toSorted()).toEqual([`${c.namespace}/fine`, `${c.namespace}/throws`]);
  }, waiting);
});

it('lets a running reconcile finish its write when it is stopped', async () => {
  await using c = await cluster();
  const account = await c.serviceAccount({ rules: [leases, configMaps] });
  let finish: () => void = () => {};
  let started = false;
  const { end } = start(c, account, [
    marking(c, 'drained', () => {
      started = true;
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    }),
  ]);
  await c.admin.create(ConfigMap, labelled(c, 'slow'));
  await vi.waitUntil(() => started, waiting);
  const ended = end();
  finish();
  await ended;
  expect((await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'slow' })).data).toEqual({ by: 'drained' });
});

it('serves what it may read, reports what it may not, and starts the rest when it may', async () => {
  await using c = await cluster();
  const account = await c.serviceAccount({ rules: [leases, configMaps] });
  const seen: string[] = [];
  const secrets = controller(Secret, { namespaces: [c.namespace], view: 'metadata' }).reconcile(({ key }) => {
    seen.push(key.name);
  });
  const { manager, ready } = start(c, account, [marking(c, 'me'), secrets], { cacheSyncTimeoutMs: 1_000 });
  await c.admin.create(Secret, { metadata: { namespace: c.namespace, name: 'hidden' } });
  await c.admin.create(ConfigMap, labelled(c, 'served'));
  await c.until(ConfigMap, { name: 'served' }, ({ data }) => data?.by === 'me');
  await vi.waitFor(async () => {
    const { status, text } = await ready();
    expect(text).toMatch(/controller-secret ok: waiting for Secret .*(may not|forbidden|cannot)/i);
    expect(status).toBe(200);
  }, waiting);
  expect(seen).toEqual([]);

  await c.admin.update(Role, {
    metadata: { namespace: account.namespace, name: account.name },
    rules: [leases, configMaps, { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }],
  });
  await vi.waitFor(() => expect(seen).toContain('hidden'), waiting);
  expect(manager.status()[0]?.controllers).toMatchObject([{ state: 'running' }, { state: 'running' }]);
});

it('starts a controller when its kind is installed later', async () => {
  await using c = await cluster();
  const group = `${c.uniqueName('late')}.example.dev`;
  const Widget = resource({
    group,
    version: 'v1',
    kind: 'Widget',
    plural: 'widgets',
    scope: 'Namespaced',
  });
  const account = await c.serviceAccount({
    rules: [leases, configMaps, { apiGroups: [group], resources: ['widgets'], verbs: ['list', 'watch'] }],
  });
  const seen: string[] = [];
  const widgets = controller(Widget, { namespaces: [c.namespace] }).reconcile(({ key }) => {
    seen.push(key.name);
  });
  const { manager, ready } = start(c, account, [marking(c, 'me'), widgets]);
  await c.admin.create(ConfigMap, labelled(c, 'served'));
  await c.until(ConfigMap, { name: 'served' }, ({ data }) => data?.by === 'me');
  await vi.waitFor(
    async () => expect(await ready()).toMatchObject({ text: expect.stringContaining('waiting for Widget') }),
    waiting,
  );

  const name = `widgets.${group}`;
  await c.admin.create(CustomResourceDefinition, {
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  c.onDispose(() => c.admin.delete(CustomResourceDefinition, { name }));
  await c.until(CustomResourceDefinition, { name }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, status }) => type === 'Established' && status === 'True'),
  );
  await vi.waitFor(
    () =>
      c.admin.create(Widget, {
        apiVersion: `${group}/v1`,
        kind: 'Widget',
        metadata: { namespace: c.namespace, name: 'w' },
      }),
    waiting,
  );
  await vi.waitFor(() => expect(seen).toEqual(['w']), { ...waiting, timeout: 45_000 });
  expect(manager.status()[0]?.controllers[1]).toMatchObject({ state: 'running' });
});
