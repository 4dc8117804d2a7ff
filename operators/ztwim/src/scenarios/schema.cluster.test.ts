import { readFileSync } from 'node:fs';
import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { COMPLETE, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { deleteAll } from './deletion.test-support.ts';

const KEY = { name: SINGLETON };
const KINDS: readonly Resource<KubernetesObject>[] = [
  ZeroTrustWorkloadIdentityManager,
  SpireServer,
  SpireAgent,
  SpiffeCSIDriver,
  SpireOIDCDiscoveryProvider,
];

/** fixture returns an example of the original design document, as it is written there. */
const fixture = (name: string): string => readFileSync(new URL(`./fixtures/${name}.yaml`, import.meta.url), 'utf8');

type Fields = Readonly<Record<string, unknown>>;

const COMPLETE_BY_KIND: Readonly<Record<string, Fields>> = { ZeroTrustWorkloadIdentityManager: COMPLETE };

const ACME = {
  directoryUrl: 'https://acme.example.io/directory',
  domainName: 'spire.example.io',
  email: 'admin@example.io',
  tosAccepted: 'true',
};

function peers(count: number): readonly Fields[] {
  return Array.from({ length: count }, (_, i) => ({
    trustDomain: `peer-${i}.io`,
    bundleEndpointUrl: `https://peer-${i}.io`,
    endpointSpiffeId: `spiffe://peer-${i}.io/spire/server`,
  }));
}

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false });
});
afterAll(() => c[Symbol.asyncDispose]());

describe('the schema', () => {
  /** Nothing is stored, so that cases do not depend on each other. */
  const tryCreate = <T extends KubernetesObject>(kind: Resource<T>, spec: Fields, name = SINGLETON): Promise<T> =>
    c.admin.create(kind, { metadata: { name }, spec } as never, { dryRun: true });

  it.each(KINDS.map((kind) => [kind.kind, kind] as const))(
    'scenario 01 allows a %s no other name than cluster',
    async (_, kind) => {
      const { status, message } = await refusalOf(tryCreate(kind, COMPLETE_BY_KIND[kind.kind] ?? {}, 'other'));
      expect(status).toBe(422);
      expect(message).toContain('singleton');
    },
  );

  it.each([
    ['an underscore', 'trustDomain', 'Bad_Domain'],
    ['256 characters', 'trustDomain', 'a'.repeat(256)],
    ['a leading dash', 'trustDomain', '-a'],
    ['an empty label', 'trustDomain', 'a..b'],
    ['a leading dash', 'clusterName', '-a'],
    ['a dot', 'clusterName', 'a.b'],
    ['64 characters', 'clusterName', 'a'.repeat(64)],
  ])('scenario 02 refuses %s in %s', async (_, field, value) => {
    const central = await refusalOf(tryCreate(ZeroTrustWorkloadIdentityManager, { ...COMPLETE, [field]: value }));
    const copied = await refusalOf(tryCreate(SpireServer, { [field]: value }));
    for (const { status, causes } of [central, copied]) {
      expect([status, causes[0]?.field]).toEqual([422, `spec.${field}`]);
    }
  });

  it('scenario 02 fills in defaults', async () => {
    const { spec: parent } = await tryCreate(ZeroTrustWorkloadIdentityManager, COMPLETE);
    expect(parent).toMatchObject({
      identityChangePolicy: 'Cascade',
      requiredOperands: ['SpireServer', 'SpireAgent', 'SpiffeCSIDriver', 'SpireOIDCDiscoveryProvider'],
      deletion: { timeoutSeconds: 30, forceFinalizerRemoval: true },
    });
    const { spec: server } = await tryCreate(SpireServer, {});
    expect(server).toMatchObject({
      caValidity: '24h',
      keyManager: { diskEnabled: 'true', memoryEnabled: 'false' },
      persistence: { size: '1Gi', accessMode: 'ReadWriteOnce', storageClass: '' },
      datastore: { databaseType: 'sqlite3', connectionString: '/run/spire/data/datastore.sqlite3' },
      replicas: 1,
    });
    const { spec: agent } = await tryCreate(SpireAgent, {});
    expect(agent).toMatchObject({
      socketPath: '/run/spire/agent-sockets',
      nodeAttestor: { k8sPSATEnabled: 'true' },
      workloadAttestors: { k8sEnabled: 'true', workloadAttestorsVerification: { type: 'auto' } },
    });
    const { spec: driver } = await tryCreate(SpiffeCSIDriver, {});
    expect(driver).toMatchObject({ agentSocketPath: '/run/spire/agent-sockets', pluginName: 'csi.spiffe.io' });
    const { spec: provider } = await tryCreate(SpireOIDCDiscoveryProvider, {});
    expect(provider).toMatchObject({ csiDriverName: 'csi.spiffe.io', replicaCount: 1, managedRoute: 'true' });
  });

  it('scenario 03 refuses two names of the bundle', async () => {
    const spec = { ...COMPLETE, bundleConfig: { name: 'a' }, bundleConfigMap: 'a' };
    const { status, causes } = await refusalOf(tryCreate(ZeroTrustWorkloadIdentityManager, spec));
    expect([status, ...causes.map(({ field }) => field)]).toEqual([422, 'spec.bundleConfigMap']);
  });

  it.each<[string, Fields, string]>([
    [
      'two sources of a certificate',
      { federation: { bundleEndpoint: { profile: 'https_web', httpsWeb: { acme: ACME, servingCert: {} } } } },
      'spec.federation.bundleEndpoint.httpsWeb',
    ],
    [
      'https_web without a certificate',
      { federation: { bundleEndpoint: { profile: 'https_web' } } },
      'spec.federation.bundleEndpoint.httpsWeb',
    ],
    ['51 peers', { federation: { federatesWith: peers(51) } }, 'spec.federation.federatesWith'],
    [
      'a peer with https_spiffe and without identity',
      { federation: { federatesWith: [{ trustDomain: 'peer.io', bundleEndpointUrl: 'https://peer.io' }] } },
      'spec.federation.federatesWith[0].endpointSpiffeId',
    ],
    ['two servers with sqlite3', { replicas: 2 }, 'spec.replicas'],
    ['two key managers', { keyManager: { diskEnabled: 'true', memoryEnabled: 'true' } }, 'spec.keyManager'],
  ])('scenario 03 refuses %s', async (_, spec, field) => {
    const { status, causes } = await refusalOf(tryCreate(SpireServer, spec));
    // The API server also reports that it did not evaluate the rules of an invalid object.
    expect([status, causes[0]?.field]).toEqual([422, field]);
  });

  it('scenario 03 refuses another volume, but lets federation be removed', async () => {
    await c.createOne(SpireServer, { federation: { federatesWith: peers(50) } });
    const patch = (spec: Fields) => c.admin.patch(SpireServer, KEY, { type: 'merge', body: { spec } });
    const { status, causes, message } = await refusalOf(patch({ persistence: { size: '2Gi' } }));
    expect([status, ...causes.map(({ field }) => field)]).toEqual([422, 'spec.persistence']);
    expect(message).toContain('resize the PersistentVolumeClaim');
    expect((await patch({ federation: null })).spec.federation).toBeUndefined();
  });
});

describe('the examples of the design document', () => {
  beforeEach(() => deleteAll(c));

  it.each([
    ['examples 1 and 2', 'manager', 'spire-server'],
    ['the validation rules', 'validated-manager', 'validated-spire-server'],
  ])('scenario 04 are accepted as written: %s', async (_, manager, server) => {
    const { metadata } = await c.admin.create(ZeroTrustWorkloadIdentityManager, parse(fixture(manager)) as never);
    const text = fixture(server).replace('<ZTWIM-UID>', metadata?.uid ?? '');
    const wanted = parse(text) as SpireServer;
    const created = await c.admin.create(SpireServer, wanted);
    expect(created).toMatchObject({ spec: wanted.spec });
    await c.createOne(SpireAgent);
    await c.untilReason(SpireAgent, 'ConfigSource', 'InheritedFromZTWIM');
  });
});
