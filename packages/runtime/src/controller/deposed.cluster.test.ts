import { type Cluster, cluster, type TestServiceAccount } from '@bowline/control-plane/testing';
import { ConfigMap, Lease } from '@bowline/kubernetes';
import { formatMicroTime, untilAborted, VirtualClock } from '@bowline/machinery';
import { s } from '@bowline/machinery/schema';
import { expect, test, vi } from 'vitest';
import type { Client } from '../client/client.ts';
import { managedContent } from '../content/managed-content.ts';
import { defineOperator } from '../operator/operator.ts';
import { allow } from '../permissions/permission.ts';
import { defineResource } from '../resource/define-resource.ts';
import { installCustomResourceDefinitions } from '../resource/install-crds.ts';
import { controller } from './builder.ts';
import { InterceptingTransport, transportOf } from './intercepting-transport.test-support.ts';
import { runOperator } from './run-operator.test-support.ts';

const Order = defineResource({
  group: 'deposed.test.bowline.dev',
  version: 'v1',
  kind: 'Order',
  scope: 'Namespaced',
  spec: s.object({}),
  status: s.object({ words: s.integer().optional() }),
});

const WRITE_METHODS = ['apply', 'ensure', 'change', 'remove', 'status', 'event', 'live', 'client'] as const;
const MINE = 'deposed.test.bowline.dev/mine';
const labels = { [MINE]: 'yes' };
const texts = managedContent({
  resource: ConfigMap,
  maps: ['data'],
  managers: ['deposed-test'],
  annotations: { hash: `${MINE}-hash`, time: `${MINE}-time`, keys: `${MINE}-keys` },
  operatorAnnotations: {},
});

/** Gate controls when the runs of an operator write, and records what they saw. */
interface Gate {
  readonly opens: (signal: AbortSignal) => Promise<unknown>;
  readonly begun: string[];
  /** The codes of the errors, by way of writing. */
  readonly ended: Map<string, string | undefined>;
}

/** operatorWith writes in every way that a reconcile has, one way per object, as soon as the gate opens. */
function operatorWith({ opens, begun, ended }: Gate, namespace: string) {
  const orders = controller(Order, { concurrency: WRITE_METHODS.length, namespaces: [namespace] })
    .using<{ readonly client: Client }>()
    .applies(ConfigMap)
    .ensures(ConfigMap, { remove: true })
    .reconcile(async ({ key, apply, ensure, remove, status, event, live, deps, signal }) => {
      begun.push(key.name);
      await opens(signal);
      const write = (): unknown => {
        switch (key.name as (typeof WRITE_METHODS)[number]) {
          case 'apply':
            return apply(ConfigMap, { metadata: key });
          case 'ensure':
          case 'change':
            return ensure(
              texts,
              key,
              texts.desired({ content: { data: { a: '1' } }, labels, operatorAnnotations: {} }),
              {
                claim: () => 'ours',
              },
            );
          case 'remove':
            return remove(ConfigMap, key, { labels });
          case 'status':
            return status.set({ words: 1 });
          case 'event':
            return event('Normal', 'Ordered', 'it was requested');
          case 'live':
            return live.create(ConfigMap, { metadata: key });
          case 'client':
            return deps.client.create(ConfigMap, { metadata: key });
        }
      };
      try {
        await write();
        ended.set(key.name, undefined);
      } catch (error) {
        ended.set(key.name, (error as { code?: string }).code);
        throw error;
      }
    });
  return defineOperator({
    name: 'order',
    domain: 'bowline.dev',
    resources: [Order],
    controllers: [orders],
    setup: ({ client }) => ({ client }),
    permissions: [allow(['create'], ConfigMap)],
  });
}

/** writesOf returns the writes of an account, as the API server recorded them, except for its Lease. */
async function writesOf(c: Cluster, account: TestServiceAccount, since: number): Promise<string[]> {
  const username = `system:serviceaccount:${account.namespace}:${account.name}`;
  return (await c.controlPlane.audit(since))
    .filter(({ user, verb }) => user.username === username && !['get', 'list', 'watch'].includes(verb))
    .filter(({ objectRef }) => objectRef?.resource !== 'leases')
    .map(
      ({ verb, objectRef: { resource, subresource = '', name } = {} }) => `${verb} ${resource}/${subresource} ${name}`,
    );
}

/** All rights, because the API server lets only such accounts name a kind as owner that it does not know yet. */
const clusterRules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

test.each(['another process holds the Lease', 'the Lease cannot be renewed'])(
  'a deposed leader writes nothing by any means when %s',
  async (reason) => {
    const since = Date.now();
    await using c = await cluster();
    await installCustomResourceDefinitions(c.admin, [Order]);
    for (const name of WRITE_METHODS) {
      await c.admin.create(Order, Order.withDefaults({ metadata: { namespace: c.namespace, name }, spec: {} }));
    }
    for (const name of ['change', 'remove']) {
      await c.admin.create(ConfigMap, { metadata: { namespace: c.namespace, name, labels } });
    }
    const account = await c.serviceAccount({ clusterRules });
    await using transport = await transportOf(c, account.identity);
    let isCutOff = false;
    const cuttable = new InterceptingTransport(transport, (request, send) =>
      // Not answered until the elector gives up on it.
      isCutOff && request.lane === 'lease'
        ? new Promise((_, reject) => request.signal?.addEventListener('abort', () => reject(new Error('cut off'))))
        : send(),
    );
    const wire = new VirtualClock({ startMs: Date.now() });
    // Each run attempts its write at the very moment at which it is aborted.
    const gate: Gate = { opens: untilAborted, begun: [], ended: new Map() };
    const leader = runOperator(c, operatorWith(gate, c.namespace), cuttable, { wire, leaderElection: {} });
    await vi.waitFor(() => expect(gate.begun.toSorted()).toEqual(WRITE_METHODS.toSorted()), { timeout: 20_000 });

    if (reason === 'another process holds the Lease') {
      const spec = { holderIdentity: 'another', renewTime: formatMicroTime(Date.now()) };
      const key = { namespace: c.namespace, name: 'bowline-order' };
      await c.admin.patch(Lease, key, { type: 'merge', body: { spec } });
      await wire.advance(3_000);
    } else {
      isCutOff = true;
      await wire.advance(10_000);
    }
    await expect(leader.ended).rejects.toMatchObject({ code: 'BOWLINE_LEADERSHIP_LOST' });
    await vi.waitFor(() => expect(gate.ended.size).toBe(WRITE_METHODS.length));
    expect(gate.ended.get('client')).toBe('BOWLINE_NOT_LEADER');

    // The same operator, not deposed, would have written everything.
    const other = await c.serviceAccount({ clusterRules });
    await using otherTransport = await transportOf(c, other.identity);
    const free: Gate = { opens: () => Promise.resolve(), begun: [], ended: new Map() };
    const successor = runOperator(c, operatorWith(free, c.namespace), otherTransport);
    await c.until(Order, { name: 'status' }, ({ status }) => status?.words === 1);
    await vi.waitFor(() => expect([...free.ended.keys()].toSorted()).toEqual(WRITE_METHODS.toSorted()), {
      timeout: 20_000,
    });
    successor.stop();
    await successor.ended;
    const written = (await writesOf(c, other, since)).map((write) => write.replace(/ event\..*/, ' event'));
    expect(new Set(written.filter((write) => !write.includes('/status')))).toEqual(
      new Set([
        'patch configmaps/ apply',
        'create configmaps/ ensure',
        'patch configmaps/ change',
        'delete configmaps/ remove',
        'create configmaps/ live',
        'create configmaps/ client',
        'create events/ event',
      ]),
    );
    expect(written).toContain('patch orders/status status');
    expect(await writesOf(c, account, since)).toEqual([]);
  },
);
