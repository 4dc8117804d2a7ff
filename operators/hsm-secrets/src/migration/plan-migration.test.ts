import type { DaemonSet, Deployment } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { LABELS, MANAGER } from '../api/names.ts';
import type { Found } from './find-objects.ts';
import { olderAgent, olderDiscovery, olderManager } from './older-objects.test-support.ts';
import { isOlderAgent, isOlderManager } from './older-workloads.ts';
import { planMigration } from './plan-migration.ts';

const device = HSMDevice.withDefaults({
  metadata: { namespace: 'shop', name: 'pico', uid: 'u1' },
  spec: { deviceType: 'PicoHSM' },
});
const older = (spec: object): HSMDevice => ({ ...device, spec }) as unknown as HSMDevice;
const READY = {
  metadata: { managedFields: [{ manager: 'bowline-hsm-secrets-pool', subresource: 'status' }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-11-17T10:00:00Z' },
    ],
  },
};
const pool = (spec: object = { hsmDeviceRef: 'pico', gracePeriod: '5m' }, others: object = {}): HSMPool => {
  const { metadata = {}, ...rest } = others as { metadata?: object };
  return { metadata: { namespace: 'shop', name: 'pico-pool', ...metadata }, spec, ...rest } as unknown as HSMPool;
};
const definitions = (state: 'ours' | 'foreign' | 'missing'): Found['definitions'] =>
  ['HSMDevice', 'HSMPool', 'HSMSecret'].map((kind) => ({ name: `${kind}s`, kind, state }));
const secret = (name: string, namespace = 'old'): HSMSecret =>
  HSMSecret.withDefaults({
    metadata: { namespace: 'shop', name, uid: name },
    spec: { parentRef: { name: 'm', namespace } },
  });

function plan(found: Partial<Found>, deleteOld = false): readonly string[] {
  const all = {
    ...{ managerNamespace: 'bowline-system', definitions: definitions('ours'), devices: [device], pools: [pool()] },
    ...{ secrets: [], delivered: [], managers: [], deployments: new Set<string>(), agents: [], daemonSets: [] },
    ...found,
  };
  return planMigration(all, { deleteOld }).map(({ state, object, change }) =>
    [state, object, change?.type].filter(Boolean).join(' '),
  );
}

describe('planMigration', () => {
  it('has no steps for current objects', () => {
    expect(plan({})).toEqual([]);
  });

  it('does nothing while the older operator runs', () => {
    expect(plan({ managers: [olderManager('old')], pools: [], agents: [olderAgent('shop', 'pico', 's1')] })).toEqual([
      'blocked Deployment old/hsm-controller-manager',
      'later HSMPool shop/pico-pool',
      'later Deployment shop/hsm-agent-pico-s1',
    ]);
    const stopped: Deployment = { ...olderManager('old'), spec: { ...olderManager('old').spec, replicas: 0 } as never };
    expect(plan({ managers: [stopped] })).toEqual([]);
    expect(plan({ managers: [{ ...stopped, status: { replicas: 1 } }] })).toHaveLength(1);
  });

  it('saves fields before definitions are taken over, and writes nothing else until then', () => {
    const devices = [older({ deviceType: 'PicoHSM', discovery: { usb: { vendorId: '20a0', productId: '4230' } } })];
    expect(plan({ definitions: definitions('foreign'), devices, pools: [] })).toEqual([
      'planned HSMDevice shop/pico save',
      ...['HSMDevices', 'HSMPools', 'HSMSecrets'].map((name) => `later CustomResourceDefinition ${name}`),
      'later HSMDevice shop/pico',
      'later HSMPool shop/pico-pool',
    ]);
    expect(plan({ definitions: definitions('missing'), devices: [], pools: [] })[0]).toBe(
      'blocked CustomResourceDefinition HSMDevices',
    );
  });

  it('names fields that a definition would drop, and the Helm release that would delete it', () => {
    const [first] = planMigration(
      {
        ...{
          managerNamespace: '',
          definitions: [{ name: 'd', kind: 'HSMDevice', state: 'foreign', helmRelease: 'hsm' }],
        },
        ...{
          devices: [older({ deviceType: 'PicoHSM', color: 'red', pkcs11LibraryPath: '' })],
          pools: [pool()],
          secrets: [],
        },
        ...{ delivered: [], managers: [], deployments: new Set<string>(), agents: [], daemonSets: [] },
      },
      { deleteOld: false },
    );
    expect(first?.action).toContain('drops spec.color of shop/pico; do not uninstall the Helm release hsm');
  });

  it('leaves the pool and the discovery of an HSMDevice that is not valid as they are', () => {
    expect(plan({ devices: [older({ deviceType: '' })], pools: [], daemonSets: [olderDiscovery(device)] })).toEqual([
      'blocked HSMDevice shop/pico',
      'later HSMPool shop/pico-pool',
      'later DaemonSet shop/pico-discovery',
    ]);
  });

  it.each([
    ['creates one that is missing', [], 'planned HSMPool shop/pico-pool write-pool'],
    ['completes one without an owner', [pool({})], 'planned HSMPool shop/pico-pool complete-pool'],
    ['completes one of the HSMDevice', [ownedBy('HSMDevice')], 'planned HSMPool shop/pico-pool write-pool'],
    ['does not change one of another owner', [ownedBy('Fleet')], 'blocked HSMPool shop/pico-pool'],
    ['does not change one of another HSMDevice', [pool({ hsmDeviceRef: 'x' })], 'blocked HSMPool shop/pico-pool'],
    [
      'drops a status that is not valid',
      [pool(undefined, { status: { reportingPods: [{ podName: 'a' }] } })],
      'planned HSMPool shop/pico-pool drop-status',
    ],
  ])('%s', (_, pools, expected) => {
    expect(plan({ pools })).toEqual([expected]);
  });

  it.each([
    [
      'replaces that of the HSMDevice',
      olderDiscovery(device),
      ['planned DaemonSet shop/pico-discovery replace-discovery'],
    ],
    ['keeps one with our selector', withSelector({ [LABELS.component]: 'discovery', [LABELS.device]: 'pico' }), []],
    ['does not touch one of another owner', foreignDaemonSet(), ['blocked DaemonSet shop/pico-discovery']],
    ['leaves one that is being deleted', deleted(olderDiscovery(device)), []],
  ])('discovery: %s', (_, daemonSet, expected) => {
    expect(plan({ daemonSets: [daemonSet] })).toEqual(expected);
  });

  it('deletes agents only on request, and once the pool is Ready by this operator', () => {
    const agents = [olderAgent('shop', 'pico', 's1'), olderAgent('shop', 'gone', 's2')];
    const [first, second] = ['Deployment shop/hsm-agent-pico-s1', 'Deployment shop/hsm-agent-gone-s2'];
    expect(plan({ agents })).toEqual([`optional ${first}`, `optional ${second}`]);
    const olderReady = pool(undefined, { status: READY.status });
    expect(plan({ agents, pools: [olderReady] }, true)).toEqual([`waiting ${first}`, `optional ${second}`]);
    const ready = pool(undefined, READY);
    expect(plan({ agents, pools: [ready] }, true)).toEqual([`planned ${first} delete`, `optional ${second}`]);
  });

  it('names the parents of HSMSecrets that nothing serves, and no others', () => {
    const deployments = new Set(['other/m']);
    const own = HSMSecret.withDefaults({ metadata: { namespace: 'shop', name: 'own' }, spec: {} });
    expect(plan({ secrets: [secret('a'), secret('b'), secret('c', 'other'), own], deployments })).toEqual([
      'blocked HSMSecrets with parentRef old/m',
    ]);
  });

  it('lists Secrets that the older operator delivered', () => {
    const owner = { apiVersion: 'hsm.j5t.io/v1alpha1', kind: 'HSMSecret', name: 'db', uid: 'db' };
    const own = HSMSecret.withDefaults({ metadata: { namespace: 'shop', name: 'db', uid: 'db' }, spec: {} });
    const metadata = { namespace: 'shop', name: 'db', ownerReferences: [owner] };
    expect(plan({ secrets: [own], delivered: [{ metadata }] })).toEqual(['optional Secret shop/db']);
    const labels = { [LABELS.managedBy]: MANAGER };
    expect(plan({ secrets: [own], delivered: [{ metadata: { ...metadata, labels } }] })).toEqual([]);
  });
});

describe('workloads of the older operator', () => {
  const manager = olderManager('old');
  const agent = olderAgent('shop', 'pico', 's1');
  const labelled = (object: Deployment, labels: object): Deployment => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata?.labels, ...labels } },
  });
  it.each([
    ['its manager', manager, true, false],
    ['its manager, by its image', { ...manager, metadata: { ...manager.metadata, labels: {} } }, true, false],
    ['its agent', agent, false, true],
    ['our agent', labelled(agent, { [LABELS.managedBy]: MANAGER }), false, false],
    ['our manager', labelled(manager, { 'app.kubernetes.io/part-of': 'bowline' }), false, false],
    ['another Deployment', { metadata: { namespace: 'a', name: 'b' } }, false, false],
  ])('recognizes %s', (_, deployment, isManager, isAgent) => {
    expect([isOlderManager(deployment), isOlderAgent(deployment)]).toEqual([isManager, isAgent]);
  });
});

function ownedBy(kind: string): HSMPool {
  const owner = { apiVersion: 'hsm.j5t.io/v1alpha1', kind, name: 'pico', uid: 'u1', controller: true };
  return pool({}, { metadata: { ownerReferences: [owner] } });
}

function withSelector(matchLabels: Readonly<Record<string, string>>): DaemonSet {
  const daemonSet = olderDiscovery(device);
  return { ...daemonSet, spec: { ...daemonSet.spec, selector: { matchLabels } } as DaemonSet['spec'] };
}

function foreignDaemonSet(): DaemonSet {
  const daemonSet = olderDiscovery(device);
  return { ...daemonSet, metadata: { ...daemonSet.metadata, ownerReferences: [], labels: {} } };
}

function deleted(daemonSet: DaemonSet): DaemonSet {
  return { ...daemonSet, metadata: { ...daemonSet.metadata, deletionTimestamp: '2026-11-17T10:00:00Z' } };
}
