import { ConfigMap, type KubernetesObject, type Resource, Secret, StatefulSet } from '@bowline/kubernetes';
import { createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SINGLETON } from '../api/names.ts';
import { OPERAND_KINDS } from '../api/operand-kinds.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { untilEvent } from './deletion.test-support.ts';

const KEY = { name: SINGLETON };
const SERVER = { namespace: OPERANDS, name: 'spire-server' };
/** Workloads are changed at most twice a second. */
const PACE_MS = 500;

let c: ZtwimCluster;
const metrics = createMetrics({ process: false });
beforeAll(async () => {
  c = await ztwimCluster({ metrics });
}, 120_000);
afterAll(() => c[Symbol.asyncDispose](), 60_000);

async function change(spec: object, kind: Resource<KubernetesObject> = SpireServer): Promise<void> {
  await c.clock.advance(PACE_MS);
  await c.changeSpec(kind, spec);
}

/** Waits until a condition of the server has a reason and a message. */
async function untilMessage(type: string, reason: string, text: string): Promise<void> {
  await c.until(SpireServer, KEY, ({ status }) =>
    Boolean(
      status?.conditions?.some((each) => each.type === type && each.reason === reason && each.message.includes(text)),
    ),
  );
}

/** isOfServer reports whether a write is about an object of the server. Its workload is tried in a dry run. */
function isOfServer(write: string): boolean {
  return /spire-server|spire-controller-manager|spire-bundle/.test(write) && !write.startsWith('patch statefulsets');
}

/** Waits until the central object reports this about its operands. */
async function untilOperands(reason: string, message: string): Promise<void> {
  await c.until(ZeroTrustWorkloadIdentityManager, KEY, ({ status }) =>
    Boolean(
      status?.conditions?.some(
        (each) => each.type === 'OperandsAvailable' && each.reason === reason && each.message === message,
      ),
    ),
  );
}

async function readyMetrics(): Promise<readonly string[]> {
  const lines = (await metrics.render()).split('\n');
  return lines.flatMap((line) => /^ztwim_operand_ready\{kind="(\w+)"\} 1$/.exec(line)?.[1] ?? []);
}

it('scenario 38 pods that do not start are reported in order, and all operands become ready with them', async () => {
  await using held = await c.nodeAgent.pods.hold({ namespace: OPERANDS });
  await c.createAll();
  await untilOperands(
    'Progressing',
    'waiting for SpireServer(StatefulSetNotReady), SpireAgent(DaemonSetNotReady), SpiffeCSIDriver(DaemonSetNotReady), SpireOIDCDiscoveryProvider(DeploymentNotReady)',
  );
  expect(await readyMetrics()).toEqual([]);
  await held.release();
  await untilOperands('Ready', 'all required operands are ready');
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  const { status } = await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY);
  expect(status?.operands?.map(({ kind, ready }) => `${kind} ${ready}`)).toEqual(
    OPERAND_KINDS.map((kind) => `${kind} true`),
  );
  expect(await readyMetrics()).toEqual([...OPERAND_KINDS]);
  await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'OwnerReferenceSet', 'SpireServer');
  await untilEvent(c, 'SpireServer', 'ConfigInherited', 'trustDomain');
});

it('scenario 38 an object that the API server refuses is reported, and stops no other one', async () => {
  const ingress = { host: 'oidc.example.io', annotations: { 'not/a/key': '' } };
  await c.admin.patch(SpireOIDCDiscoveryProvider, KEY, { type: 'merge', body: { spec: { ingress } } });
  expect(await c.untilReason(SpireOIDCDiscoveryProvider, 'IngressAvailable', 'Failed')).toContain('not/a/key');
  await c.untilReason(SpireOIDCDiscoveryProvider, 'DeploymentAvailable', 'DeploymentReady');
  await untilOperands('Failed', 'waiting for SpireOIDCDiscoveryProvider(Failed)');
  await c.admin.patch(SpireOIDCDiscoveryProvider, KEY, { type: 'merge', body: { spec: { ingress: null } } });
  await c.untilReason(SpireOIDCDiscoveryProvider, 'Ready', 'Ready');
});

it('scenario 38 pods that crash are reported, and count only for operands that are required', async () => {
  await using crashing = await c.nodeAgent.pods.crash({
    namespace: OPERANDS,
    selector: 'app.kubernetes.io/name=spire-agent',
  });
  await untilOperands('Progressing', 'waiting for SpireAgent(DaemonSetNotReady)');
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Progressing');
  expect(await readyMetrics()).not.toContain('SpireAgent');
  const require = (requiredOperands: readonly string[] | null) =>
    c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: { requiredOperands } } });
  await require(['SpireServer', 'SpiffeCSIDriver']);
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  await require(null);
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Progressing');
  await crashing.release();
  await untilOperands('Ready', 'all required operands are ready');
});

it('scenario 38 an operand that waits for a user makes the central object fail, and one that is missing progress', async () => {
  await change({ caValidity: '30m' });
  await untilOperands('Failed', 'waiting for SpireServer(TTLValidationFailed)');
  await change({ caValidity: null });
  await untilOperands('Ready', 'all required operands are ready');
  await c.admin.delete(SpireOIDCDiscoveryProvider, KEY);
  await c.untilRemoved(SpireOIDCDiscoveryProvider);
  await untilOperands('Progressing', 'waiting for SpireOIDCDiscoveryProvider(not created)');
  expect(await readyMetrics()).not.toContain('SpireOIDCDiscoveryProvider');
  await c.createOne(SpireOIDCDiscoveryProvider);
  await untilOperands('Ready', 'all required operands are ready');
});

it('scenario 39 validities that SPIRE refuses change nothing, and risky ones are a warning', async () => {
  const { metadata } = await c.admin.get(StatefulSet, SERVER);
  for (const [spec, text] of [
    [{ caValidity: '30m' }, 'defaultX509Validity (1h) exceeds caValidity (30m)'],
    [{ caValidity: '24h', defaultJWTValidity: '25h' }, 'defaultJWTValidity (25h) exceeds caValidity (24h)'],
    [{ defaultJWTValidity: '0s' }, 'defaultJWTValidity must be more than 0'],
  ] as const) {
    await change(spec);
    await untilMessage('TTLConfigurationValid', 'TTLValidationFailed', text);
    await c.untilReason(SpireServer, 'Ready', 'TTLValidationFailed');
  }
  expect((await c.admin.get(StatefulSet, SERVER)).metadata?.generation).toBe(metadata?.generation);
  await change({ caValidity: '2h', defaultJWTValidity: '5m' });
  await untilMessage('TTLConfigurationValid', 'TTLValidationWarning', 'increase caValidity to at least 6h');
  await untilEvent(c, 'SpireServer', 'TTLConfigurationWarning', 'caValidity');
  await change({ caValidity: '24h' });
  await c.untilReason(SpireServer, 'TTLConfigurationValid', 'TTLValidationSucceeded');
});

it.each([
  [
    'toleration',
    'InvalidTolerations',
    'tolerations[0].key',
    { tolerations: [{ key: 'not a key', operator: 'Exists' }] },
  ],
  ['label', 'InvalidLabels', 'labels', { labels: { 'not a label': 'a' } }],
  ['resource', 'InvalidResources', 'resources', { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }],
] as const)('scenario 40 a %s that the API server refuses holds its operand alone', async (_, reason, field, spec) => {
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  await c.idle();
  const { metadata } = await c.admin.get(StatefulSet, SERVER);
  const since = Date.now();
  // Its file would change too.
  await change({ ...spec, logLevel: 'debug' });
  expect(await c.untilReason(SpireServer, 'Ready', reason)).toContain(field);
  await change({ logLevel: 'debug' }, SpireAgent);
  await c.until(ConfigMap, { namespace: OPERANDS, name: 'spire-agent' }, ({ data }) =>
    Boolean(data?.['agent.conf']?.includes('"debug"')),
  );
  await c.idle();
  expect((await c.writes(since)).filter(isOfServer)).toEqual([]);
  expect((await c.admin.get(StatefulSet, SERVER)).metadata?.resourceVersion).toBe(metadata?.resourceVersion);
  const undo = Object.fromEntries(Object.keys(spec).map((key) => [key, null]));
  await change({ ...undo, logLevel: 'info' });
  await change({ logLevel: 'info' }, SpireAgent);
  await c.untilReason(SpireServer, 'Ready', 'Ready');
});

it('scenario 41 a socket path or the name of a driver that differs is reported by both operands', async () => {
  await change({ socketPath: '/run/other' }, SpireAgent);
  await change({ csiDriverName: 'csi.other.io' }, SpireOIDCDiscoveryProvider);
  expect(await c.untilReason(SpiffeCSIDriver, 'SettingsAgree', 'SocketPathMismatch')).toContain('"/run/other"');
  await c.untilReason(SpireAgent, 'SettingsAgree', 'SocketPathMismatch');
  await untilEvent(c, 'SpireAgent', 'SocketPathMismatch');
  const differs = await c.untilReason(SpireOIDCDiscoveryProvider, 'SettingsAgree', 'CSIDriverMismatch');
  expect(differs).toMatch(/"csi.spiffe.io".*"csi.other.io"/);
  await untilEvent(c, 'SpireOIDCDiscoveryProvider', 'CSIDriverMismatch');
  await change({ socketPath: '/run/spire/agent-sockets' }, SpireAgent);
  await c.untilReason(SpiffeCSIDriver, 'SettingsAgree', 'CSIDriverMismatch');
  await change({ csiDriverName: 'csi.spiffe.io' }, SpireOIDCDiscoveryProvider);
  for (const kind of [SpireAgent, SpiffeCSIDriver, SpireOIDCDiscoveryProvider]) {
    await c.untilReason(kind, 'SettingsAgree', 'Agree');
  }
});

it('scenario 42 a missing Secret holds the server, and a changed one restarts it once', async () => {
  const name = 'database';
  const datastore = {
    databaseType: 'postgres',
    connectionString: 'host=db user=spire password=$' + '{SPIRE_DB_PASSWORD}',
    passwordSecretRef: { name, key: 'password' },
  };
  await change({ datastore: { ...datastore, connectionString: 'host=db user=spire password=canary' } });
  expect(await untilEvent(c, 'SpireServer', 'PlainTextCredentials')).not.toContain('canary');
  await change({ datastore });
  await c.untilReason(SpireServer, 'ConfigurationValid', 'SecretMissing');
  const data = (text: string) => ({ password: Buffer.from(text).toString('base64') });
  await c.admin.create(Secret, { metadata: { namespace: OPERANDS, name }, data: data('first\n') });
  await c.untilReason(SpireServer, 'ConfigurationValid', 'InvalidConfiguration');
  await c.admin.patch(Secret, { namespace: OPERANDS, name }, { type: 'merge', body: { data: data('first') } });
  const hash = (workload: StatefulSet) =>
    workload.spec?.template.metadata?.annotations?.['ztwim.openshift.io/secrets-hash'];
  const before = await c.until(StatefulSet, SERVER, (workload) => hash(workload) !== undefined);
  await c.clock.advance(PACE_MS);
  await c.admin.patch(Secret, { namespace: OPERANDS, name }, { type: 'merge', body: { data: data('second') } });
  const after = await c.until(StatefulSet, SERVER, (workload) => hash(workload) !== hash(before));
  expect(after.metadata?.generation).toBe((before.metadata?.generation ?? 0) + 1);
});
