import {
  ConfigMap,
  DaemonSet,
  type KubernetesObject,
  Lease,
  Namespace,
  Node,
  Pod,
  type PolicyRule,
  type Resource,
  RoleBinding,
  Secret,
  ServiceAccount,
  ValidatingAdmissionPolicy,
} from '@bowline/kubernetes';
import { SelfSubjectRulesReview } from '@bowline/kubernetes/authorization-v1';
import { Event } from '@bowline/kubernetes/events-v1';
import { formatMicroTime } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { LABELS, REPORT_ANNOTATION } from '../api/names.ts';
import { devicesIn, type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';

// A node with discovery can be compromised: an attacker then has the token of its discovery pod. A tenant may have
// HSMDevices of their own. Every test is an attempt to get further.

let c: HsmCluster;
/** The discovery pods of the HSMDevice `pico` on the first and the second node. */
let [attacker, victim]: Pod[] = [];
let compromised: Client;

beforeAll(async () => {
  c = await hsmCluster();
  const [first = '', second = ''] = c.nodes;
  await c.createDevice('pico', { discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] } });
  attacker = await c.discoveryPod('pico', first);
  victim = await c.discoveryPod('pico', second);
  compromised = await c.clientOf(attacker);
  await c.report(attacker, ['A']);
  await c.report(victim, ['B']);
  await c.untilPool('pico', ({ phase }) => phase === 'Ready');
});
afterAll(() => c[Symbol.asyncDispose]());

const BOTH = () => [
  ['A', c.nodes[0], true, 'Healthy'],
  ['B', c.nodes[1], true, 'Healthy'],
];

const untilInvalid = (text: string) =>
  c.untilPool('pico', (_, pool) => findCondition(pool, 'ReportsValid')?.message.includes(text) ?? false);

/** The rules of a client in a namespace, without those that all clients have. */
async function rulesOf(client: Client, namespace: string): Promise<readonly PolicyRule[]> {
  const review = await client.create(SelfSubjectRulesReview, { metadata: {}, spec: { namespace } });
  const ofAll = new Set(['authorization.k8s.io', 'authentication.k8s.io']);
  return (review.status?.resourceRules ?? []).filter(
    ({ apiGroups = [] }) => !apiGroups.every((each) => ofAll.has(each)),
  );
}

describe('the token of a discovery pod', () => {
  it('scenario 39 has the permissions of discovery in its own namespace, and none elsewhere', async () => {
    const sorted = (rules: readonly PolicyRule[]) =>
      rules
        .flatMap(({ apiGroups = [], resources = [], verbs }) =>
          resources.flatMap((resource) =>
            verbs.map((verb) => `${verb} ${[resource, ...apiGroups].filter(Boolean).join('.')}`),
          ),
        )
        .sort();
    const rules = await rulesOf(compromised, c.namespace);
    expect(sorted(rules)).toEqual([
      'get hsmdevices.hsm.j5t.io',
      'get hsmpools.hsm.j5t.io',
      'get pods',
      'list hsmdevices.hsm.j5t.io',
      'list hsmpools.hsm.j5t.io',
      'patch pods',
      'self-report hsmpools.hsm.j5t.io',
      'watch hsmdevices.hsm.j5t.io',
      'watch hsmpools.hsm.j5t.io',
    ]);
    for (const namespace of ['kube-system', c.managerNamespace])
      expect(await rulesOf(compromised, namespace)).toEqual([]);
  });

  it.each<Resource<KubernetesObject>>([
    Secret,
    ConfigMap,
    ServiceAccount,
    RoleBinding,
    DaemonSet,
    Lease,
    Namespace,
    Node,
    ValidatingAdmissionPolicy,
  ])('scenario 39 cannot read $kind', async (kind) => {
    const key = { name: 'pico-agent-tls', ...(kind.scope === 'Namespaced' ? { namespace: c.namespace } : {}) };
    await expect(compromised.get(kind, key)).rejects.toMatchObject({ status: 403 });
    await expect(
      compromised.list(kind, kind.scope === 'Namespaced' ? { namespace: c.namespace } : {}),
    ).rejects.toMatchObject({ status: 403 });
  });

  it('scenario 39 can neither create, list nor delete pods, nor change HSMDevices and pools', async () => {
    const { namespace } = c;
    const key = { namespace, name: victim?.metadata?.name ?? '' };
    const spec = { containers: [{ name: 'a', image: 'example.test/a:1' }] };
    const merge = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => compromised.create(Pod, { metadata: { namespace, name: 'a' }, spec }),
      () => compromised.list(Pod, { namespace }),
      () => compromised.delete(Pod, key),
      () => compromised.patch(Pod, key, merge, { subresource: 'status' }),
      () => compromised.patch(HSMDevice, { namespace, name: 'pico' }, merge),
      () => compromised.patch(HSMPool, { namespace, name: 'pico-pool' }, merge),
      () => compromised.patch(HSMPool, { namespace, name: 'pico-pool' }, merge, { subresource: 'status' }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ status: 403 });
  });

  it('reads nothing in the namespace of another device', async () => {
    const namespace = await c.createNamespace('tenant');
    await expect(compromised.list(HSMPool, { namespace })).rejects.toMatchObject({ status: 403 });
    await expect(compromised.list(HSMPool)).rejects.toMatchObject({ status: 403 });
  });
});

it('scenario 39 the account of agents has no permissions', async () => {
  const agent = await c.clientFor({ serviceAccount: { namespace: c.namespace, name: 'pico-agent' } });
  for (const namespace of [c.namespace, c.managerNamespace, 'kube-system'])
    expect(await rulesOf(agent, namespace)).toEqual([]);
  const key = { namespace: c.namespace, name: 'pico-agent-tls' };
  await expect(agent.get(Secret, key)).rejects.toMatchObject({ status: 403 });
  expect((await c.admin.get(ServiceAccount, { ...key, name: 'pico-agent' })).automountServiceAccountToken).toBe(false);
});

describe('a compromised node', () => {
  it('cannot write the report of the pod of another node', async () => {
    const key = { namespace: c.namespace, name: victim?.metadata?.name ?? '' };
    const body = { metadata: { annotations: { [REPORT_ANNOTATION]: null } } };
    await expect(compromised.patch(Pod, key, { type: 'merge', body })).rejects.toMatchObject({ status: 403 });
  });

  it('cannot report for another node', async () => {
    await c.report(attacker as Pod, ['STOLEN'], { reportingNode: c.nodes[1] });
    expect(devicesIn(await untilInvalid(`reportingNode is ${c.nodes[1]}`))).toEqual(BOTH());
    await c.report(attacker as Pod, [{ devicePath: '/dev/a', serialNumber: 'STOLEN', nodeName: c.nodes[1] }]);
    expect(devicesIn(await untilInvalid(`a device is on the node ${c.nodes[1]}`))).toEqual(BOTH());
    await c.report(attacker as Pod, ['A']);
  });

  it('cannot take a device of another node, not even while the pod of that node is replaced', async () => {
    await c.report(attacker as Pod, ['A', 'B']);
    const isDuplicate = (pool: HSMPool): boolean => findCondition(pool, 'DuplicateSerial') !== undefined;
    expect(devicesIn(await c.untilPool('pico', (_, pool) => isDuplicate(pool)))).toEqual(BOTH());
    await using _ = await c.nodeAgent.pods.hold({ selector: `${LABELS.component}=discovery` });
    await c.admin.delete(Pod, { namespace: c.namespace, name: victim?.metadata?.name ?? '' });
    const replaced = await c.untilPool('pico', ({ reportingPods = [] }) => reportingPods.some(({ fresh }) => !fresh));
    expect(devicesIn(replaced).map(([id, node]) => [id, node])).toEqual(BOTH().map(([id, node]) => [id, node]));
    expect(replaced.status?.availableDevices).toBe(2);
    await c.report(attacker as Pod, ['A']);
  });
});

describe('a tenant with an HSMDevice of their own', () => {
  let tenant: string;
  /** May do everything with pods, HSMDevices and pools of their namespace, and write reports there. */
  let user: Client;
  beforeAll(async () => {
    tenant = await c.createNamespace('tenant');
    const rules = [
      { apiGroups: [''], resources: ['pods'], verbs: ['*'] },
      { apiGroups: ['hsm.j5t.io'], resources: ['*'], verbs: ['*'] },
    ];
    user = (await c.serviceAccount({ namespace: tenant, rules })).client;
    const metadata = { namespace: tenant, name: 'mine' };
    const spec = {
      deviceType: 'PicoHSM',
      nodeSelector: { 'example.test/cluster': c.namespace },
      discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] },
    };
    await vi.waitFor(() => user.create(HSMDevice, { metadata, spec }), { timeout: 20_000, interval: 50 });
  });

  const reportOf = (pod: Pod, serialNumbers: readonly string[]): string => {
    const now = formatMicroTime(c.clock.now());
    return JSON.stringify({
      hsmDeviceName: 'mine',
      reportingNode: pod.spec?.nodeName,
      discoveredDevices: serialNumbers.map((serialNumber) => ({ devicePath: `/dev/${serialNumber}`, serialNumber })),
      lastReportTime: now,
      discoveryStatus: 'completed',
    });
  };
  const write = (client: Client, pod: Pod, text: string): Promise<Pod> =>
    client.patch(
      Pod,
      { namespace: pod.metadata?.namespace, name: pod.metadata?.name ?? '' },
      { type: 'merge', body: { metadata: { annotations: { [REPORT_ANNOTATION]: text } } } },
    );

  it('neither takes a serial number of an older HSMDevice, nor learns which one has it', async () => {
    const pods = await c.untilList(Pod, { namespace: tenant, labelSelector: `${LABELS.device}=mine` }, (all) =>
      all.some(({ spec }) => spec?.nodeName === c.nodes[0]),
    );
    const pod = pods.find(({ spec }) => spec?.nodeName === c.nodes[0]) as Pod;
    await write(user, pod, reportOf(pod, ['A', 'MINE']));
    const key = { namespace: tenant, name: 'mine-pool' };
    const pool = await c.until(HSMPool, key, ({ status }) => status?.totalDevices === 2);
    expect(devicesIn(pool)).toEqual([
      ['A', c.nodes[0], false, 'Claimed'],
      ['MINE', c.nodes[0], true, 'Healthy'],
    ]);
    expect((await c.pool('pico')).status?.aggregatedDevices?.find(({ id }) => id === 'A')?.available).toBe(true);
    await c.idle();
    const { items } = await c.admin.list(Event, { namespace: tenant });
    const shown = JSON.stringify([await user.get(HSMPool, key), items.map(({ note }) => note)]);
    expect(shown).not.toContain('pico');
    // The names of the nodes of the test begin with that of the namespace.
    expect(shown.replaceAll(/hsm-\w+-[12]\b/g, '')).not.toContain(c.namespace);
  });

  it('cannot write reports in another namespace with the verb report in their own', async () => {
    await expect(write(user, attacker as Pod, '{}')).rejects.toMatchObject({ status: 403 });
    const both = await c.serviceAccount({
      namespace: tenant,
      rules: [{ apiGroups: ['hsm.j5t.io'], resources: ['hsmpools'], verbs: ['report'] }],
      clusterRules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] }],
    });
    const refused = vi.fn(() => write(both.client, attacker as Pod, '{}'));
    await vi.waitFor(() => expect(refused()).rejects.toThrow('grant them the verb report on hsmpools'), {
      timeout: 20_000,
      interval: 50,
    });
  });

  it('cannot use a token of their discovery account in another namespace', async () => {
    const discovery = await c.clientFor({ serviceAccount: { namespace: tenant, name: 'mine-discovery' } });
    await expect(write(discovery, attacker as Pod, '{}')).rejects.toMatchObject({ status: 403 });
    await expect(discovery.list(HSMPool, { namespace: c.namespace })).rejects.toMatchObject({ status: 403 });
  });

  it('cannot make a pool in another namespace their own with a report', async () => {
    const before = await c.pool('pico');
    const labels = { [LABELS.component]: 'discovery', [LABELS.device]: 'pico' };
    const spec = { nodeName: c.nodes[0] ?? '', containers: [{ name: 'a', image: 'example.test/a:1' }] };
    const pod = await user.create(Pod, { metadata: { namespace: tenant, name: 'forged', labels }, spec });
    await write(user, pod, reportOf(pod, ['FORGED']).replace('"mine"', '"pico"'));
    await c.createDevice('fence', { suspend: true });
    await c.untilPool('fence', ({ phase }) => phase === 'Pending');
    await c.idle();
    expect((await c.pool('pico')).status?.aggregatedDevices).toEqual(before.status?.aggregatedDevices);
  });
});
