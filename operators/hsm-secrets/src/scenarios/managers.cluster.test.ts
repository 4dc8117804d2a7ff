import { Lease, Pod, RoleBinding, Secret } from '@bowline/kubernetes';
import { formatMicroTime } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { Manager } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { REPORT_ANNOTATION } from '../api/names.ts';
import { hsmSecrets } from '../operator.ts';
import { devicesIn, type HsmCluster, hsmCluster, IMAGE } from '../testing/hsm-cluster.test-support.ts';

/** A lost Lease is noticed soon. */
const leaderElection = { retryPeriodMs: 200 };
const waiting = { timeout: 30_000, interval: 50 };

let c: HsmCluster;
let pod: Pod;
let lease: { readonly namespace: string; readonly name: string };
beforeAll(async () => {
  c = await hsmCluster({ nodes: 1, leaderElection, selectNamespaces: ({ namespace }) => Promise.resolve([namespace]) });
  lease = { namespace: c.managerNamespace, name: 'bowline-hsm-secrets' };
  await c.createDevice('pico');
  pod = await c.discoveryPod('pico', c.nodes[0] ?? '');
  await c.report(pod, ['1']);
  // The last object that the first manager creates.
  await c.until(Secret, { name: 'pico-agent-tls' }, () => true);
});
afterAll(() => c[Symbol.asyncDispose]());

/** A further process of the manager, with the account of the install. */
async function startReplica(identity: string) {
  const { roleRef } = await c.admin.get(RoleBinding, { namespace: c.namespace, name: 'pico-discovery' });
  const install = roleRef.name.replace(/-discovery$/, '');
  const writes: string[] = [];
  const account = { namespace: c.managerNamespace, name: install };
  const client = (await c.clientFor({ serviceAccount: account })).checked(({ verb, resource, key }) => {
    const isWrite = !['get', 'list', 'watch'].includes(verb);
    if (isWrite && !/leases|reviews/.test(resource?.plural ?? ''))
      writes.push(`${verb} ${resource?.plural} ${key?.name}`);
  });
  const manager = new Manager({
    operators: [hsmSecrets],
    namespaces: [c.namespace],
    namespace: c.managerNamespace,
    clientFor: () => client,
    installNameFor: () => install,
    config: { 'hsm-secrets': { image: IMAGE } },
    leaderElection: { ...leaderElection, identity },
    clock: c.clock,
    healthAddress: '0',
    metricsAddress: '0',
  });
  const end = new AbortController();
  const ended = manager.run(end.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  c.onDispose(async () => {
    end.abort();
    await ended;
  });
  const isLeading = (): boolean => manager.status().some(({ state }) => state === 'leading');
  return { manager, writes, ended, isLeading };
}

it('a manager that is limited to namespaces creates objects and pools there, whose reports are guarded', async () => {
  const pool = await c.untilPool('pico', ({ phase }) => phase === 'Ready');
  expect(devicesIn(pool)).toEqual([['1', c.nodes[0], true, 'Healthy']]);
  expect(findCondition(pool, 'ReportsGuarded')).toMatchObject({ status: 'True', reason: 'Guarded' });
  const { client } = await c.serviceAccount({ rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['patch'] }] });
  const body = { metadata: { annotations: { [REPORT_ANNOTATION]: '{}' } } };
  const forge = () =>
    client.patch(Pod, { namespace: c.namespace, name: pod.metadata?.name ?? '' }, { type: 'merge', body });
  await vi.waitFor(() => expect(forge()).rejects.toThrow('grant them the verb report'), waiting);
});

it('scenario 43 one of two managers writes, another takes over, and none writes without the Lease', async () => {
  const standby = await startReplica('standby');
  await vi.waitFor(() => expect(standby.manager.status()).not.toEqual([]), waiting);
  await c.report(pod, ['1', '2']);
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 2);
  await c.idle();
  expect([standby.isLeading(), standby.writes]).toEqual([false, []]);

  await c.stop();
  await vi.waitFor(() => expect(standby.isLeading()).toBe(true), waiting);
  await c.report(pod, ['1', '2', '3']);
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 3);
  expect(standby.writes).toContain('patch hsmpools pico-pool');
  // A takeover alone changes nothing.
  expect(standby.writes.filter((write) => !/hsmpools|events/.test(write))).toEqual([]);

  const renewTime = formatMicroTime(Date.now());
  const spec = { holderIdentity: 'thief', renewTime, leaseDurationSeconds: 1 };
  await c.admin.patch(Lease, lease, { type: 'merge', body: { spec } });
  expect(await standby.ended).toMatchObject({ code: expect.stringContaining('BOWLINE_LEADERSHIP_LOST') });
  const since = Date.now();
  const { metadata } = await c.pool('pico');
  await c.report(pod, ['1']);
  expect(await c.writes(since)).toEqual([]);
  expect((await c.pool('pico')).metadata?.resourceVersion).toBe(metadata?.resourceVersion);

  await c.restart();
  await c.untilPool('pico', ({ availableDevices }) => availableDevices === 1);
});
