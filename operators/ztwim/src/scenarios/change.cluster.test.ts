import {
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  type Resource,
  Secret,
  StatefulSet,
} from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPLACED_LABEL, SINGLETON } from '../api/names.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { untilEvent } from './deletion.test-support.ts';

const KEY = { name: SINGLETON };
const WORKLOADS = [
  [StatefulSet, 'spire-server'],
  [DaemonSet, 'spire-agent'],
  [DaemonSet, 'spire-spiffe-csi-driver'],
  [Deployment, 'spire-spiffe-oidc-discovery-provider'],
] as const;

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster();
  await c.createAll();
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  await c.idle();
}, 120_000);
afterAll(() => c[Symbol.asyncDispose](), 60_000);

/** Workloads are changed at most twice a second. */
const PACE_MS = 500;

async function change(spec: object): Promise<void> {
  await c.clock.advance(PACE_MS);
  await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec } });
}

async function file(name: string, key: string): Promise<Record<string, Record<string, unknown>>> {
  const { data } = await c.admin.get(ConfigMap, { namespace: OPERANDS, name });
  return JSON.parse(data?.[key] ?? '{}') as Record<string, Record<string, unknown>>;
}

/** The generations of the workloads: each new template increases its own by one. */
async function generations(): Promise<readonly (number | undefined)[]> {
  const objects = await Promise.all(
    WORKLOADS.map(([kind, name]) => c.admin.get(kind as Resource<KubernetesObject>, { namespace: OPERANDS, name })),
  );
  return objects.map(({ metadata }) => metadata?.generation);
}

async function untilServer(text: string): Promise<void> {
  await c.until(
    ConfigMap,
    { namespace: OPERANDS, name: 'spire-server' },
    ({ data }) => data?.['server.conf']?.includes(text) ?? false,
  );
}

describe('a change of', () => {
  it('scenario 16 the cluster name changes three files, and restarts server and agents once each', async () => {
    const before = await generations();
    await change({ clusterName: 'staging' });
    await c.until(SpireAgent, KEY, ({ spec }) => spec.clusterName === 'staging');
    await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'ConfigPropagated', 'SpireAgent');
    await untilServer('"staging"');
    await c.until(
      ConfigMap,
      { namespace: OPERANDS, name: 'spire-agent' },
      ({ data }) => data?.['agent.conf']?.includes('staging') ?? false,
    );
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    await c.idle();
    const [server = 0, agent = 0, csi, oidc] = before;
    expect(await generations()).toEqual([server + 1, agent + 1, csi, oidc]);
    expect(await file('spire-controller-manager', 'controller-manager-config.yaml')).toMatchObject({
      entryIDPrefix: 'staging',
      entryIDPrefixCleanup: 'prod',
    });
  });

  it('scenario 16 the cluster name or the bundle does not reach the agents while the server is held', async () => {
    const [, agent] = await generations();
    await c.admin.patch(SpireServer, KEY, { type: 'merge', body: { spec: { caValidity: '30m' } } });
    await c.untilReason(SpireServer, 'Ready', 'TTLValidationFailed');
    await change({ clusterName: 'other' });
    await c.until(SpireAgent, KEY, ({ status }) =>
      Boolean(status?.conditions?.some(({ message }) => message.includes('uses the cluster name other'))),
    );
    await change({ clusterName: 'staging', bundleConfigMap: 'other-bundle' });
    await c.until(SpireAgent, KEY, ({ status }) =>
      Boolean(status?.conditions?.some(({ message }) => message.includes('has created the ConfigMap other-bundle'))),
    );
    expect((await generations())[1]).toBe(agent);
    await change({ bundleConfigMap: 'spire-bundle' });
    await c.admin.patch(SpireServer, KEY, { type: 'merge', body: { spec: { caValidity: null } } });
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    await c.idle();
    expect((await generations())[1]).toBe(agent);
  });

  it('scenario 17 the trust domain gives the server new files and reaches agents and provider, and can be reverted', async () => {
    await change({ trustDomain: 'other.io' });
    await untilServer('datastore-other.io.sqlite3');
    await c.until(
      ConfigMap,
      { namespace: OPERANDS, name: 'spire-spiffe-oidc-discovery-provider' },
      ({ data }) => data?.['oidc-discovery-provider.conf']?.includes('other.io') ?? false,
    );
    expect(await file('spire-agent', 'agent.conf')).toMatchObject({ agent: { trust_domain: 'other.io' } });
    await change({ trustDomain: 'example.io' });
    await untilServer('"/run/spire/data/datastore.sqlite3"');
    await c.until(
      ConfigMap,
      { namespace: OPERANDS, name: 'spire-spiffe-oidc-discovery-provider' },
      ({ data }) => data?.['oidc-discovery-provider.conf']?.includes('"trust_domain": "example.io"') ?? false,
    );
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  });

  it('scenario 18 the bundle creates the new ConfigMap and keeps the old one', async () => {
    await change({ bundleConfigMap: 'new-bundle' });
    await c.until(ConfigMap, { namespace: OPERANDS, name: 'new-bundle' }, () => true);
    const old = await c.until(
      ConfigMap,
      { namespace: OPERANDS, name: 'spire-bundle' },
      ({ metadata }) => metadata?.labels?.[REPLACED_LABEL] === 'true',
    );
    expect(old.metadata?.deletionTimestamp).toBeUndefined();
    // Operands keep the name if it is only removed here.
    await change({ bundleConfigMap: 'spire-bundle' });
    await c.until(
      ConfigMap,
      { namespace: OPERANDS, name: 'spire-bundle' },
      ({ metadata }) => metadata?.labels?.[REPLACED_LABEL] === undefined,
    );
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  });

  it('scenario 19 nothing causes no write, also after a restart', async () => {
    await c.until(Secret, { namespace: OPERANDS, name: 'oidc-serving-cert' }, () => true);
    await c.idle();
    const since = Date.now();
    await c.advanceTime(60_000, 10_000);
    const requestsBefore = c.requests.length;
    await c.restart();
    await c.idle();
    // The address of the webhooks of a test is another one after a restart.
    expect((await c.writes(since)).filter((write) => !write.includes('webhookconfigurations'))).toEqual([]);
    const reads = c.requests.slice(requestsBefore).filter((request) => request.startsWith('get '));
    expect(reads.filter((read) => !/webhook|leases/.test(read))).toEqual([]);
  });

  it('scenario 20 twenty edits in a row give at most three templates per workload and the last state', async () => {
    const [before = 0] = await generations();
    await change({ clusterName: 'edit-0' });
    for (let edit = 1; edit < 20; edit += 1) {
      await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, {
        type: 'merge',
        body: { spec: { clusterName: `edit-${edit}` } },
      });
    }
    await c.until(SpireServer, KEY, ({ spec }) => spec.clusterName === 'edit-19');
    await c.clock.advance(PACE_MS);
    await untilServer('"edit-19"');
    await c.untilReason(SpireServer, 'Ready', 'Ready');
    const [after = 0] = await generations();
    expect(after - before).toBeLessThanOrEqual(3);
  });
});
