import {
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  PersistentVolumeClaim,
  type Resource,
  Role,
  Secret,
} from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { SINGLETON } from '../api/names.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import { OperatorCondition } from '../third-party/operator-condition.ts';
import { Route } from '../third-party/route.ts';
import { VolumeSnapshot } from '../third-party/volume-snapshot.ts';

const KEY = { name: SINGLETON };
const inOperands = (name: string) => ({ namespace: OPERANDS, name });
/** Workloads are changed at most twice a second. */
const PACE_MS = 500;

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({
    leaderElection: false,
    config: { certificateRequests: true, operatorCondition: 'ztwim.v1' },
  });
  await c.createAll();
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
}, 120_000);
afterAll(() => c[Symbol.asyncDispose](), 60_000);

async function changeServer(spec: object): Promise<void> {
  await c.clock.advance(PACE_MS);
  await c.changeSpec(SpireServer, spec);
}

async function changeProvider(spec: object): Promise<void> {
  await c.clock.advance(PACE_MS);
  await c.changeSpec(SpireOIDCDiscoveryProvider, spec);
}

async function untilConfigured(text: string): Promise<void> {
  await c.until(ConfigMap, inOperands('spire-server'), ({ data }) => Boolean(data?.['server.conf']?.includes(text)));
}

it('scenario 58 a database of AWS needs its region, and waits for the Secret with its credentials', async () => {
  const datastore = { databaseType: 'aws_mysql', connectionString: 'spire:@tcp(db:3306)/spire?parseTime=true' };
  const { causes } = await refusalOf(changeServer({ datastore }));
  expect(causes.map(({ field }) => field)).toContain('spec.datastore.aws');
  await changeServer({ datastore: { ...datastore, aws: { region: 'us-east-2', credentialsSecretName: 'aws' } } });
  expect(await c.untilReason(SpireServer, 'ConfigurationValid', 'SecretMissing')).toContain('aws');
  const data = { aws_access_key_id: 'aWQ=', aws_secret_access_key: 'Y2FuYXJ5' };
  await c.admin.create(Secret, { metadata: inOperands('aws'), data });
  await untilConfigured('"region": "us-east-2"');
  await changeServer({ datastore: null });
});

it('scenario 59 either Vault or cert-manager signs the CA, and the server may create only what it needs', async () => {
  const vault = { address: 'https://vault.example.io', kubernetesAuth: { role: 'spire' } };
  const certManager = { issuerName: 'root' };
  const { message } = await refusalOf(changeServer({ upstreamAuthority: { vault, certManager } }));
  expect(message).toContain('exactly one of vault and certManager');
  await changeServer({ upstreamAuthority: { certManager } });
  await untilConfigured('"issuer_name": "root"');
  const role = inOperands('spire-server-certificate-requests');
  const { rules } = await c.until(Role, role, () => true);
  expect(rules?.[0]?.resources).toEqual(['certificaterequests']);
  await changeServer({ upstreamAuthority: { certManager: null, vault } });
  await untilConfigured('"k8s_auth_role_name": "spire"');
  await c.untilGone(Role, role);
  await changeServer({ upstreamAuthority: null });
});

it('scenario 60 the proxy of all operands reaches the containers of each', async () => {
  await c.clock.advance(PACE_MS);
  const proxy = { httpsProxy: 'http://egress.example.com:3128', trustedCAConfigMap: 'cas' };
  await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: { proxy } } });
  for (const name of ['spire-agent', 'spire-spiffe-csi-driver']) {
    await c.until(DaemonSet, inOperands(name), ({ spec }) =>
      Boolean(spec?.template.spec?.containers.every(({ env }) => env?.some((each) => each.name === 'HTTPS_PROXY'))),
    );
  }
  await c.clock.advance(PACE_MS);
  await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: { proxy: null } } });
});

/** install installs kinds of others, whose objects may have any fields. */
async function install(...kinds: readonly Resource[]): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
  await c.stop();
  for (const { group, version, kind, plural, scope } of kinds) {
    const name = `${plural}.${group}`;
    await c.admin.create(CustomResourceDefinition, {
      // The API server accepts kinds of this group only with a link to the review of their definitions.
      metadata: { name, annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' } },
      spec: {
        group,
        scope,
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    });
    await c.until(CustomResourceDefinition, { name }, ({ status }) =>
      Boolean(status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True')),
    );
    c.onDispose(() => c.admin.delete(CustomResourceDefinition, { name }));
  }
  await c.restart();
}

const PROVIDER = inOperands('spire-oidc-discovery-provider');
const READER = inOperands('spire-oidc-discovery-provider-external-certificate');

it('scenario 62 a route of the Gateway API is reported while its kind is not served', async () => {
  await changeProvider({ gateway: { name: 'public' } });
  expect(await c.untilReason(SpireOIDCDiscoveryProvider, 'GatewayRouteAvailable', 'NotServed')).toContain('TLSRoute');
  await changeProvider({ gateway: null });
});

it('scenario 63 a backup of the claim is reported while its kind is not served', async () => {
  await changeServer({ deletion: { persistentVolumeClaims: 'Delete', backup: 'VolumeSnapshot' } });
  await c.untilReason(SpireServer, 'BackupAvailable', 'NotServed');
});

it('scenario 64 OLM learns whether another version may be installed', async () => {
  await install(OperatorCondition, TLSRoute, HTTPRoute, VolumeSnapshot);
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Upgradeable', 'Upgradeable');
  const key = { namespace: c.managerNamespace, name: 'ztwim.v1' };
  await c.admin.create(OperatorCondition, { metadata: key, spec: { conditions: [] } });
  await changeServer({ caValidity: '30m' });
  const { spec } = await c.until(OperatorCondition, key, (each) => each.spec?.conditions?.[0]?.status === 'False');
  expect(spec?.conditions).toMatchObject([{ type: 'Upgradeable', reason: 'OperandsNotAvailable' }]);
  await changeServer({ caValidity: '24h' });
  await c.until(OperatorCondition, key, (each) => each.spec?.conditions?.[0]?.status === 'True');
});

it('scenario 61 the router may read the Secret with the certificate of a Route, once there is one', async () => {
  await changeProvider({ externalSecretRef: 'route-tls' });
  await install(Route);
  expect(await c.untilReason(SpireOIDCDiscoveryProvider, 'ConfigurationValid', 'SecretMissing')).toContain('route-tls');
  await c.admin.create(Secret, { metadata: inOperands('route-tls') });
  const { spec } = await c.until(Route, PROVIDER, () => true);
  expect(spec.tls.externalCertificate).toEqual({ name: 'route-tls' });
  const { rules } = await c.until(Role, READER, () => true);
  expect(rules?.[0]?.resourceNames).toEqual(['route-tls']);
});

it('scenario 62 a route of the Gateway API replaces the Route, and each kind the other one', async () => {
  await changeProvider({ gateway: { name: 'public', namespace: 'gateways' } });
  const { spec } = await c.until(TLSRoute, PROVIDER, () => true);
  expect(spec.hostnames).toEqual(['oidc.example.io']);
  await c.untilGone(Route, PROVIDER);
  await c.untilGone(Role, READER);
  await changeProvider({ gateway: { kind: 'HTTPRoute' } });
  await c.until(HTTPRoute, PROVIDER, () => true);
  await c.untilGone(TLSRoute, PROVIDER);
  const { causes } = await refusalOf(changeServer({ federation: {}, gateway: { name: 'public', kind: 'HTTPRoute' } }));
  expect(causes.map(({ field }) => field)).toContain('spec.gateway.kind');
  await changeProvider({ gateway: null });
  await c.untilGone(HTTPRoute, PROVIDER);
});

it('scenario 63 the claim of a deleted server is deleted only when a snapshot of it is ready', async () => {
  await c.untilReason(SpireServer, 'BackupAvailable', 'Ready');
  const claim = inOperands('spire-data-spire-server-0');
  await c.admin.delete(SpireServer, KEY);
  const findSnapshot = async (): Promise<VolumeSnapshot | undefined> => {
    // The operator's time passes too: the cleanup waits for consumers first.
    await c.clock.advance(PACE_MS);
    return (await c.admin.list(VolumeSnapshot, { namespace: OPERANDS })).items[0];
  };
  await expect.poll(findSnapshot, { timeout: 60_000, interval: 250 }).toBeDefined();
  const snapshot = await findSnapshot();
  expect(snapshot?.spec.source.persistentVolumeClaimName).toBe(claim.name);
  await c.untilReason(SpireServer, 'Deleting', 'WaitingForBackup');
  expect((await c.admin.get(PersistentVolumeClaim, claim)).metadata?.deletionTimestamp).toBeUndefined();
  const body = { status: { readyToUse: true } };
  await c.admin.patch(VolumeSnapshot, inOperands(snapshot?.metadata?.name ?? ''), { type: 'merge', body });
  await c.untilRemoved(SpireServer);
  await c.untilGone(PersistentVolumeClaim, claim);
});
