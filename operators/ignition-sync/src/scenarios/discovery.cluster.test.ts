import { ConfigMap, Pod, StatefulSet } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DiscoveredGateway, IgnitionSync } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER, INJECTION_ANNOTATIONS, objectNames, POD_ANNOTATIONS } from '../api/names.ts';
import { type ControllerScenario, startControllerScenario } from './controller.test-support.ts';
import {
  agentOf,
  boundAccounts,
  createAccount,
  createGateway,
  type GatewayOptions,
  runGateways,
  untilPlan,
  untilSync,
} from './gateways.test-support.ts';

let c: ControllerScenario;
let isPodListFailing = false;
let failures = 0;
beforeAll(async () => {
  c = await startControllerScenario({
    wrapClient: (client) =>
      client.checked(({ verb, resource }) => {
        if (!isPodListFailing || resource?.plural !== 'pods') return;
        failures++;
        throw new Error(`cannot ${verb} pods`);
      }),
  });
}, 60_000);
afterAll(() => c[Symbol.asyncDispose]());

/** start creates an IgnitionSync and waits until its commit is known. */
async function start(cr: string): Promise<void> {
  await c.sync(cr);
  await c.untilCondition(cr, 'RepoCloned', { status: 'True' });
  await c.until(ConfigMap, c.key(objectNames(cr).metadata), () => true);
}

async function untilGateways(
  cr: string,
  test: (gateways: readonly DiscoveredGateway[]) => boolean,
): Promise<readonly DiscoveredGateway[]> {
  const { status } = await untilSync(c, cr, (sync) => test(sync.status?.discoveredGateways ?? []));
  return status?.discoveredGateways ?? [];
}

const eventsOf = async (cr: string, reason: string): Promise<readonly Event[]> => {
  const { items } = await c.admin.list(Event, { namespace: c.namespace });
  return items.filter((event) => event.regarding?.name === cr && event.reason === reason);
};

describe('scenario 09', () => {
  it('reports pods as gateways while they run', async () => {
    await start('phases');
    await c.untilCondition('phases', 'AllGatewaysSynced', { status: 'False', reason: 'NoGatewaysDiscovered' });
    await createGateway(c, 'phases-pending', 'phases', { isUnschedulable: true });
    await runGateways(c, ['phases-0'], 'phases');
    const gateways = await untilGateways('phases', ({ length }) => length === 1);
    expect(gateways).toMatchObject([
      { name: 'phases-0', podName: 'phases-0', syncStatus: 'Pending', servicePath: '.' },
    ]);
    await c.untilEvent('phases', 'GatewaysDiscovered');
    await (await agentOf(c, 'phases-0', 'phases')).report();
    await c.untilCondition('phases', 'Ready', { status: 'True', reason: 'SyncSucceeded' });
    await c.admin.delete(Pod, c.key('phases-0'));
    await untilGateways('phases', ({ length }) => length === 0);
    await c.untilCondition('phases', 'AllGatewaysSynced', { reason: 'NoGatewaysDiscovered' });
    // A gateway that starts is part of the plan: its agent places files before the gateway runs.
    await c.until(ConfigMap, c.key(objectNames('phases').status), ({ data }) => data?.['phases-0'] === undefined);
    await untilPlan(c, 'phases', (plan) => Object.keys(plan).join() === 'phases-pending');
  }, 60_000);

  it('names gateways by annotation, label and pod', async () => {
    await start('names');
    const options: Record<string, GatewayOptions> = {
      'names-a': { annotations: { gatewayName: 'North Hall' }, labels: { 'app.kubernetes.io/name': 'ignored' } },
      'names-b': { labels: { 'app.kubernetes.io/name': 'labelled' } },
      'names-c': {},
    };
    await runGateways(c, Object.keys(options), 'names', (name) => options[name] ?? {});
    const gateways = await untilGateways('names', ({ length }) => length === 3);
    expect(gateways.map(({ name, podName }) => [name, podName])).toEqual([
      ['North Hall', 'names-a'],
      ['labelled', 'names-b'],
      ['names-c', 'names-c'],
    ]);
    const plan = await untilPlan(c, 'names', (each) => Object.keys(each).length === 3);
    expect(
      Object.values(plan)
        .map(({ key }) => key)
        .sort(),
    ).toEqual(['North_Hall', 'names-b', 'names-c']);
  }, 60_000);

  it('keeps the gateways and agents of two IgnitionSyncs apart', async () => {
    await start('east');
    await start('west');
    await createAccount(c, 'east-gateway');
    await runGateways(c, ['east-0'], 'east', () => ({ serviceAccount: 'east-gateway' }));
    await runGateways(c, ['west-0'], 'west');
    await untilGateways('east', (gateways) => gateways.length === 1);
    await untilGateways('west', (gateways) => gateways.length === 1);
    const agent = await agentOf(c, 'east-0', 'east');
    await agent.report();
    await c.untilCondition('east', 'Ready', { status: 'True' });
    await c.untilCondition('west', 'Ready', { status: 'False' });
    const client = await c.clientFor({
      serviceAccount: { namespace: c.namespace, name: 'east-gateway' },
      pod: 'east-0',
    });
    const { metadata, status } = objectNames('west');
    await expect(client.get(ConfigMap, c.key(metadata))).rejects.toMatchObject({ status: 403 });
    const body = { data: { 'west-0': '{}' } };
    await expect(client.patch(ConfigMap, c.key(status), { type: 'merge', body })).rejects.toMatchObject({
      status: 403,
    });
  }, 60_000);

  it('serves replicas with one name', async () => {
    await start('replicas');
    const labels = { 'app.kubernetes.io/name': 'ignition' };
    const annotations = {
      [POD_ANNOTATIONS.inject]: 'true',
      [POD_ANNOTATIONS.crName]: 'replicas',
      [POD_ANNOTATIONS.servicePath]: '.',
      [INJECTION_ANNOTATIONS.injected]: 'true',
    };
    await c.admin.create(StatefulSet, {
      metadata: c.key('ignition'),
      spec: {
        replicas: 3,
        serviceName: 'ignition',
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations },
          spec: {
            initContainers: [{ name: AGENT_CONTAINER, image: 'agent', restartPolicy: 'Always' }],
            containers: [{ name: 'gateway', image: 'ignition' }],
          },
        },
      },
    });
    const gateways = await untilGateways('replicas', ({ length }) => length === 3);
    expect(gateways.map(({ name, podName }) => `${name} ${podName}`)).toEqual([
      'ignition ignition-0',
      'ignition ignition-1',
      'ignition ignition-2',
    ]);
    for (const { podName } of gateways) await (await agentOf(c, podName, 'replicas')).report();
    await c.untilCondition('replicas', 'AllGatewaysSynced', { status: 'True', message: '^3/3 gateways synced$' });
  }, 60_000);
});

describe('scenario 10', () => {
  it('changes Ready with a report, without the passing of time', async () => {
    await start('reports');
    await runGateways(c, ['reports-0', 'reports-1'], 'reports');
    await untilGateways('reports', ({ length }) => length === 2);
    const [first, second] = [await agentOf(c, 'reports-0', 'reports'), await agentOf(c, 'reports-1', 'reports')];
    await c.advanceTime(2_000);
    const before = c.clock.now();
    await first.report();
    await second.report({ syncStatus: 'Error', errorReason: 'DiskFull', errorMessage: 'no space is left' });
    await c.untilCondition('reports', 'Ready', { status: 'False', reason: 'SyncFailed' });
    await second.report();
    await c.untilCondition('reports', 'Ready', { status: 'True', reason: 'SyncSucceeded' });
    expect(c.clock.now()).toBe(before);
    await c.untilEvent('reports', 'SyncCompleted');
  }, 60_000);

  it('ignores a report that cannot be read, and counts the others', async () => {
    const [first, second] = [await agentOf(c, 'reports-0', 'reports'), await agentOf(c, 'reports-1', 'reports')];
    await first.write('{"syncStatus":');
    await c.untilEvent('reports', 'MalformedReport');
    const [broken, fine] = await untilGateways('reports', (gateways) => gateways[0]?.syncStatus === 'Pending');
    expect([broken?.syncStatus, fine?.syncStatus]).toEqual(['Pending', 'Synced']);
    await c.untilCondition('reports', 'Ready', { status: 'False', reason: 'Reconciling' });
    await first.report();
    await second.report();
    await c.untilCondition('reports', 'Ready', { status: 'True' });
  }, 60_000);

  it('does not count a report about an older commit', async () => {
    const agent = await agentOf(c, 'reports-0', 'reports');
    const { commit } = await agent.metadata();
    await c.repository.commit({ 'services/site/projects/overview/project.json': '{"title":"new"}' });
    await c.annotate('reports', { 'ignition-sync.io/requested-at': '2026-01-01T00:00:00Z' });
    await expect.poll(async () => (await agent.metadata()).commit).not.toBe(commit);
    await c.untilCondition('reports', 'Ready', { status: 'False', reason: 'Reconciling' });
    const gateways = await untilGateways('reports', ([first]) => first?.syncStatus === 'Pending');
    expect(gateways.map(({ syncStatus, syncedCommit }) => [syncStatus, syncedCommit])).toEqual([
      ['Pending', commit],
      ['Pending', commit],
    ]);
  }, 60_000);

  it('reports a pod without an agent once', async () => {
    const annotations = { [POD_ANNOTATIONS.inject]: 'true', [POD_ANNOTATIONS.crName]: 'missing' };
    // The IgnitionSync does not exist yet, so that the webhook admits the pod without an agent.
    await c.admin.create(Pod, {
      metadata: { ...c.key('missing-0'), annotations: { ...annotations, [POD_ANNOTATIONS.servicePath]: '.' } },
      spec: {
        containers: [{ name: 'gateway', image: 'ignition', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        volumes: [{ name: 'data', emptyDir: {} }],
        terminationGracePeriodSeconds: 0,
      },
    });
    await start('missing');
    await c.untilCondition('missing', 'SidecarInjected', { status: 'False', reason: 'MissingSidecar' });
    const [entry] = await untilGateways('missing', ({ length }) => length === 1);
    expect(entry).toMatchObject({ podName: 'missing-0', syncStatus: 'MissingSidecar' });
    await c.untilEvent('missing', 'MissingSidecar');
    await c.annotate('missing', { 'ignition-sync.io/retry': '1' });
    await c.advanceTime(130_000);
    await c.idle();
    const events = await eventsOf('missing', 'MissingSidecar');
    expect(events.map(({ series }) => series?.count ?? 1)).toEqual([1]);
    await c.admin.delete(Pod, c.key('missing-0'));
    await c.until(IgnitionSync, c.key('missing'), ({ status }) =>
      (status?.conditions ?? []).every(({ type }) => type !== 'SidecarInjected'),
    );
  }, 60_000);

  it('binds the ServiceAccounts of pods in every phase, and keeps them when pods cannot be listed', async () => {
    await start('accounts');
    await createAccount(c, 'pending');
    await createAccount(c, 'running');
    await createGateway(c, 'accounts-0', 'accounts', { serviceAccount: 'pending', isUnschedulable: true });
    await runGateways(c, ['accounts-1'], 'accounts', () => ({ serviceAccount: 'running' }));
    const accounts = () => boundAccounts(c, 'accounts');
    await expect.poll(accounts).toEqual(['pending', 'running']);
    isPodListFailing = true;
    try {
      await c.restart();
      await expect.poll(() => failures).toBeGreaterThan(0);
      await c.annotate('accounts', { 'ignition-sync.io/retry': '1' });
      await c.clock.advance(60_000);
      expect(await accounts()).toEqual(['pending', 'running']);
    } finally {
      isPodListFailing = false;
    }
    await c.admin.delete(Pod, c.key('accounts-1'));
    await expect
      .poll(
        async () => {
          await c.clock.advance(1_000);
          return await accounts();
        },
        { timeout: 60_000, interval: 50 },
      )
      .toEqual(['pending']);
  }, 120_000);
});
