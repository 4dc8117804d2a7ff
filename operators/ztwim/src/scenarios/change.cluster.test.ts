import {
  apiVersionOf,
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  type Resource,
  Role,
  Secret,
  StatefulSet,
} from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { REPLACED_LABEL } from '../api/names.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { FIVE, KEY, untilEvent } from './deletion.test-support.ts';

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

/** How long agents and provider wait for their turn. */
const MAX_WAIT_MS = 120_000;

async function patch(spec: object): Promise<void> {
  await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec } });
}

async function change(spec: object): Promise<void> {
  await c.clock.advance(PACE_MS);
  await patch(spec);
}

async function changeServer(spec: object): Promise<void> {
  await c.clock.advance(PACE_MS);
  await c.changeSpec(SpireServer, spec);
}

async function file(name: string, key: string): Promise<Record<string, Record<string, unknown>>> {
  const { data } = await c.admin.get(ConfigMap, { namespace: OPERANDS, name });
  return JSON.parse(data?.[key] ?? '{}') as Record<string, Record<string, unknown>>;
}

/** The generations of the workloads: each new template increases its own by one. */
async function generations(): Promise<readonly number[]> {
  const objects = await Promise.all(
    WORKLOADS.map(([kind, name]) => c.admin.get(kind as Resource<KubernetesObject>, { namespace: OPERANDS, name })),
  );
  return objects.map(({ metadata }) => metadata?.generation ?? 0);
}

async function untilServer(text: string): Promise<void> {
  await c.until(
    ConfigMap,
    { namespace: OPERANDS, name: 'spire-server' },
    ({ data }) => data?.['server.conf']?.includes(text) ?? false,
  );
}

async function untilAgentFile(text: string): Promise<void> {
  await c.until(
    ConfigMap,
    { namespace: OPERANDS, name: 'spire-agent' },
    ({ data }) => data?.['agent.conf']?.includes(text) ?? false,
  );
}

async function untilProvider(trustDomain: string): Promise<void> {
  await c.until(
    ConfigMap,
    { namespace: OPERANDS, name: 'spire-spiffe-oidc-discovery-provider' },
    ({ data }) => data?.['oidc-discovery-provider.conf']?.includes(`"trust_domain": "${trustDomain}"`) ?? false,
  );
}

/** Waits until a condition of the agent has a message. */
async function untilAgent(text: string): Promise<void> {
  await c.until(SpireAgent, KEY, ({ status }) =>
    Boolean(status?.conditions?.some(({ message }) => message.includes(text))),
  );
}

describe('a change of', () => {
  it('scenario 16 the cluster name changes three files, and restarts server and agents once each', async () => {
    const before = await generations();
    await change({ clusterName: 'staging' });
    await c.until(SpireAgent, KEY, ({ spec }) => spec.clusterName === 'staging');
    await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'ConfigPropagated', 'SpireAgent');
    await untilServer('"staging"');
    await untilAgentFile('"staging"');
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
    await changeServer({ caValidity: '30m' });
    await c.untilReason(SpireServer, 'Ready', 'TTLValidationFailed');
    await change({ clusterName: 'other' });
    await untilAgent('uses the cluster name other');
    await change({ clusterName: 'staging', bundleConfigMap: 'other-bundle' });
    await untilAgent('has created the ConfigMap other-bundle');
    expect((await generations())[1]).toBe(agent);
    await change({ bundleConfigMap: 'spire-bundle' });
    await changeServer({ caValidity: null });
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    await c.idle();
    expect((await generations())[1]).toBe(agent);
  });

  it('scenario 17 the trust domain gives the server new files, then reaches the agents, then the provider', async () => {
    const since = Date.now();
    await change({ trustDomain: 'other.io' });
    await untilProvider('other.io');
    // The run writes the workload after the file.
    await c.idle();
    const { plugins } = await file('spire-server', 'server.conf');
    expect(JSON.stringify(plugins)).toContain('"/run/spire/data/datastore-other.io.sqlite3"');
    expect(JSON.stringify(plugins)).toContain('"/run/spire/data/keys-other.io.json"');
    expect(await file('spire-agent', 'agent.conf')).toMatchObject({ agent: { trust_domain: 'other.io' } });
    const workloads = (await c.writes(since)).filter((write) =>
      /^patch (?:stateful|daemon)sets |^patch deploy/.test(write),
    );
    expect([...new Set(workloads)]).toEqual([
      `patch statefulsets ${OPERANDS}/spire-server`,
      `patch daemonsets ${OPERANDS}/spire-agent`,
      `patch deployments ${OPERANDS}/spire-spiffe-oidc-discovery-provider`,
    ]);
    await untilEvent(c, 'SpireServer', 'TrustDomainChanged', 'from example.io to other.io');
  });

  it('scenario 17 the trust domain back restores the old files, and waits two minutes for a server that does not start', async () => {
    const selector = 'app.kubernetes.io/name=spire-server';
    await using held = await c.nodeAgent.pods.hold({ namespace: OPERANDS, selector });
    await change({ trustDomain: 'example.io' });
    await untilServer('"/run/spire/data/datastore.sqlite3"');
    await untilAgent('waiting until the SPIRE server uses the trust domain example.io');
    await c.advanceTime(MAX_WAIT_MS - 10_000, 10_000);
    expect(await file('spire-agent', 'agent.conf')).toMatchObject({ agent: { trust_domain: 'other.io' } });
    await c.advanceTime(10_000, 10_000);
    await untilEvent(c, 'SpireAgent', 'CascadeNotAwaited');
    await untilProvider('example.io');
    await held.release();
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  });

  it('scenario 17 the trust domain is refused if the policy forbids it', async () => {
    await change({ identityChangePolicy: 'Forbid' });
    for (const [field, value] of [
      ['trustDomain', 'other.io'],
      ['clusterName', 'other'],
    ] as const) {
      const { status, causes } = await refusalOf(change({ [field]: value }));
      expect([status, causes[0]?.reason, causes[0]?.field]).toEqual([422, 'FieldValueForbidden', `spec.${field}`]);
    }
    await change({ identityChangePolicy: 'Cascade' });
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
    await untilServer('"config_map": "new-bundle"');
    const { rules } = await c.until(Role, { namespace: OPERANDS, name: 'spire-bundle' }, (role) =>
      Boolean(role.rules?.some(({ resourceNames }) => resourceNames?.includes('new-bundle'))),
    );
    expect(rules?.map(({ resourceNames }) => resourceNames)).toEqual([['new-bundle']]);
    await c.until(DaemonSet, { namespace: OPERANDS, name: 'spire-agent' }, ({ spec }) =>
      Boolean(spec?.template.spec?.volumes?.some(({ configMap }) => configMap?.name === 'new-bundle')),
    );
    // Operands keep the name if it is only removed here.
    await change({ bundleConfigMap: 'spire-bundle' });
    await c.until(
      ConfigMap,
      { namespace: OPERANDS, name: 'spire-bundle' },
      ({ metadata }) => metadata?.labels?.[REPLACED_LABEL] === undefined,
    );
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  });

  it('scenario 19 nothing, or only of the order of keys, causes no write, also after a restart', async () => {
    await c.until(Secret, { namespace: OPERANDS, name: 'oidc-serving-cert' }, () => true);
    // The rollout that the last change caused is reported until it is over.
    await c.until(DaemonSet, { namespace: OPERANDS, name: 'spire-agent' }, ({ metadata, status }) => {
      const { observedGeneration, desiredNumberScheduled, updatedNumberScheduled, numberReady } = status ?? {};
      const isUpdated = updatedNumberScheduled === desiredNumberScheduled && numberReady === desiredNumberScheduled;
      return observedGeneration === metadata?.generation && isUpdated;
    });
    await c.idle();
    const since = Date.now();
    for (const kind of FIVE) {
      const { spec } = await c.admin.get<KubernetesObject & { spec?: unknown }>(kind, KEY);
      const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: KEY };
      for (const applied of [spec, spec, reordered(spec)]) {
        const patched = { type: 'apply', force: true, body: { ...body, spec: applied } as never } as const;
        await c.admin.patch(kind, KEY, patched, { fieldManager: 'kubectl' });
      }
    }
    await c.idle();
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
    const before = await generations();
    await c.clock.advance(PACE_MS);
    for (let edit = 0; edit < 20; edit += 1) await patch({ clusterName: `edit-${edit}` });
    await c.until(SpireServer, KEY, ({ spec }) => spec.clusterName === 'edit-19');
    await c.advanceTime(10 * PACE_MS, PACE_MS);
    await untilServer('"edit-19"');
    // It follows the server, whose pods are replaced first.
    await untilAgentFile('"edit-19"');
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    await c.idle();
    const [server = 0, agent = 0, csi = 0, oidc = 0] = (await generations()).map(
      (after, i) => after - (before[i] ?? 0),
    );
    for (const templates of [server, agent]) {
      expect(templates).toBeGreaterThan(0);
      expect(templates).toBeLessThanOrEqual(3);
    }
    expect([csi, oidc]).toEqual([0, 0]);
  });

  it('scenario 17 the trust domain waits with an external database, until the user confirms that it is empty', async () => {
    const datastore = { databaseType: 'postgres', connectionString: 'host=db user=spire' };
    await changeServer({ datastore });
    await untilServer('"postgres"');
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    // It may be ready since before the change.
    await c.advanceTime(1_000);
    const before = await generations();
    await change({ trustDomain: 'other.io' });
    expect(await c.untilReason(SpireServer, 'ConfigurationValid', 'DatastoreHold')).toContain(
      'acceptTrustDomainChange',
    );
    await untilAgent('waiting until the SPIRE server uses the trust domain other.io');
    await c.idle();
    expect(await generations()).toEqual(before);
    await changeServer({ datastore: { acceptTrustDomainChange: true } });
    await untilServer('"trust_domain": "other.io"');
  });
});

/** reordered returns the same value with the keys of all objects in the opposite order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]: [string, unknown]) => [key, reordered(member)] as const);
  return Object.fromEntries(entries.reverse());
}
