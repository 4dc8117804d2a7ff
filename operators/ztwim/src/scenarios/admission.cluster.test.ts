import { type KubernetesObject, type Resource, StatefulSet } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { ANNOTATIONS } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { deleteAll, FIVE, KEY } from './deletion.test-support.ts';
import { DisturbedWatches } from './disturbed-watches.test-support.ts';
import { removeWebhooks } from './remove-webhooks.test-support.ts';

const IDENTITY = { trustDomain: 'example.io', clusterName: 'prod' };

type Fields = Readonly<Record<string, unknown>>;

const patchSpec = <T extends KubernetesObject>(c: ZtwimCluster, kind: Resource<T>, spec: Fields): Promise<T> =>
  c.admin.patch(kind, KEY, { type: 'merge', body: { spec } });

const annotate = (c: ZtwimCluster, kind: Resource<KubernetesObject>, annotations: Fields): Promise<KubernetesObject> =>
  c.admin.patch(kind, KEY, { type: 'merge', body: { metadata: { annotations } } });

const inherited = ({ metadata }: KubernetesObject): unknown =>
  JSON.parse(metadata?.annotations?.[ANNOTATIONS.inherited] ?? '{}');

const watches = new DisturbedWatches();
let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false, wrapClient: (client) => watches.through(client) });
});
afterAll(() => c[Symbol.asyncDispose]());

const PAUSED = { 'bowline.dev/paused': 'true' };

/** createPaused creates an operand whose controller does nothing: admission does not depend on that. */
const createPaused = <T extends KubernetesObject>(kind: Resource<T>, spec: Fields = {}): Promise<T> =>
  c.admin.create(kind, { metadata: { ...KEY, annotations: PAUSED }, spec } as never);

/** settle waits until the operator has written everything, also events that it records with a delay. */
async function settle(): Promise<void> {
  await c.advanceTime(5_000, 1_000);
  await c.idle();
}

describe('admission', () => {
  it('scenario 13 writes nothing in a dry run of a creation', async () => {
    const start = Date.now();
    for (const kind of FIVE.toReversed()) {
      const spec = kind === ZeroTrustWorkloadIdentityManager ? COMPLETE : {};
      await c.admin.create<KubernetesObject>(kind, { metadata: KEY, spec } as never, { dryRun: true });
    }
    for (const kind of FIVE) expect(await c.admin.find(kind, KEY)).toBeUndefined();
    await c.idle();
    expect(await c.writes(start)).toEqual([]);
  });

  it('scenario 11 refuses a contradiction, makes an equal value follow, and fills in a missing one', async () => {
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    const { status, causes } = await refusalOf(c.createOne(SpireServer, { trustDomain: 'other.io' }));
    expect(status).toBe(422);
    expect(causes).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.trustDomain',
        message:
          'Invalid value: "other.io": SpireServer.spec.trustDomain is "other.io", but ZeroTrustWorkloadIdentityManager.spec.trustDomain is "example.io"; remove the field from the SpireServer, or set both to the same value',
      },
    ]);
    // The webhooks read the same cache as the controller, which has the central values now.
    await c.createOne(SpiffeCSIDriver);
    await c.untilReason(SpiffeCSIDriver, 'ConfigSource', 'InheritedFromZTWIM');
    const agent = await createPaused(SpireAgent, { trustDomain: 'example.io' });
    expect(agent.spec).toMatchObject(IDENTITY);
    expect(inherited(agent)).toEqual(IDENTITY);
    const provider = await createPaused(SpireOIDCDiscoveryProvider);
    const { trustDomain, jwtIssuer } = COMPLETE;
    expect(provider.spec).toMatchObject({ trustDomain, jwtIssuer });
    expect(inherited(provider)).toEqual({ trustDomain, jwtIssuer });

    // A field that is removed or changed later is treated in the same way.
    const refilled = await patchSpec(c, SpireAgent, { clusterName: null });
    expect(refilled.spec.clusterName).toBe('prod');
    const changed = await refusalOf(patchSpec(c, SpireAgent, { clusterName: 'other' }));
    expect([changed.status, changed.causes[0]?.field]).toEqual([422, 'spec.clusterName']);
    // All of them follow the central value.
    await patchSpec(c, ZeroTrustWorkloadIdentityManager, { clusterName: 'next' });
    await c.until(SpireAgent, KEY, ({ spec }) => spec.clusterName === 'next');
  });

  it('scenario 13 writes nothing in a dry run of a change or a deletion', async () => {
    await c.untilReason(SpiffeCSIDriver, 'Ready', 'Ready');
    await settle();
    const before = await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY);
    const start = Date.now();
    const patch = { type: 'merge', body: { spec: { trustDomain: 'next.io' } } } as const;
    const answer = await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, patch, { dryRun: true });
    expect(answer.spec.trustDomain).toBe('next.io');
    for (const kind of [SpireAgent, SpiffeCSIDriver, SpireOIDCDiscoveryProvider, ZeroTrustWorkloadIdentityManager]) {
      await c.admin.delete<KubernetesObject>(kind, KEY, { dryRun: true });
    }
    await c.idle();
    expect(await c.writes(start)).toEqual([]);
    expect(await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY)).toEqual(before);
  });

  it('scenario 15 accepts what only an old cache contradicts', async () => {
    // The cache has the central object and its driver.
    for (const kind of [SpireAgent, SpireOIDCDiscoveryProvider]) {
      await c.admin.delete<KubernetesObject>(kind, KEY);
    }
    {
      using _ = watches.hold();
      await patchSpec(c, ZeroTrustWorkloadIdentityManager, { trustDomain: 'next.io' });
      await createPaused(SpireServer, { trustDomain: 'next.io' });
      // An empty operand gets the old value, and follows the new one as soon as the cache has it.
      const agent = await createPaused(SpireAgent);
      expect(agent.spec.trustDomain).toBe('example.io');
      const { causes } = await refusalOf(c.createOne(SpireOIDCDiscoveryProvider, { trustDomain: 'other.io' }));
      expect(causes[0]?.message).toMatch(/"other.io".*"next.io"/);
    }
    for (const kind of [SpireServer, SpireAgent]) {
      await c.until<KubernetesObject>(kind, KEY, (object) => JSON.stringify(inherited(object)).includes('next.io'));
    }
  });

  it('scenario 14 leaves metadata, status and deletion to users while the operator is down', async () => {
    await annotate(c, SpireServer, { 'bowline.dev/paused': null });
    await c.untilReason(SpireServer, 'ConfigSource', 'InheritedFromZTWIM');
    await c.stop();
    expect((await refusalOf(patchSpec(c, SpireServer, { logLevel: 'debug' }))).message).toContain('server-review');
    await annotate(c, SpireServer, { note: 'a' });
    await c.admin.patch(
      SpireServer,
      KEY,
      { type: 'merge', body: { status: { conditions: [] } } },
      { subresource: 'status' },
    );
    await c.admin.delete(SpireServer, KEY, { propagationPolicy: 'Orphan' });
    await c.admin.patch(SpireServer, KEY, { type: 'merge', body: { metadata: { finalizers: null } } });
    await c.untilRemoved(SpireServer);
    await c.restart();
  });

  it('scenario 12 refuses a configuration without values or with a new contradiction, but no other change', async () => {
    await deleteAll(c);
    const empty = await refusalOf(c.createOne(ZeroTrustWorkloadIdentityManager, { jwtIssuer: COMPLETE.jwtIssuer }));
    expect(empty.status).toBe(422);
    expect(empty.causes.map(({ reason, field }) => `${reason} ${field}`)).toEqual([
      'FieldValueRequired spec.trustDomain',
      'FieldValueRequired spec.clusterName',
    ]);
    const elsewhere = await refusalOf(
      c.createOne(ZeroTrustWorkloadIdentityManager, { ...COMPLETE, namespace: 'elsewhere' }),
    );
    expect([elsewhere.status, elsewhere.causes[0]?.field]).toEqual([422, 'spec.namespace']);

    await c.createOne(SpireServer, { trustDomain: 'own.io' });
    const contradiction = await refusalOf(c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE));
    expect([contradiction.status, contradiction.causes[0]?.field]).toEqual([422, 'spec.trustDomain']);
    expect(contradiction.message).toMatch(/"own.io".*"example.io"/);

    // A value that counts as inherited does not contradict. Once its annotation is lost, it does.
    await annotate(c, SpireServer, {
      [ANNOTATIONS.inherited]: JSON.stringify({ trustDomain: 'own.io' }),
      [ANNOTATIONS.inheritIntoSpec]: 'false',
    });
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.untilReason(SpireServer, 'ConfigSource', 'InheritedFromZTWIM');
    await annotate(c, SpireServer, { [ANNOTATIONS.inherited]: null });
    await c.untilReason(SpireServer, 'ConfigSource', 'Conflict');
    await patchSpec(c, ZeroTrustWorkloadIdentityManager, { labels: { team: 'a' } });
    await patchSpec(c, SpireServer, { logLevel: 'debug' });
    expect((await refusalOf(patchSpec(c, SpireServer, { trustDomain: 'third.io' }))).status).toBe(422);
    expect((await refusalOf(patchSpec(c, ZeroTrustWorkloadIdentityManager, { trustDomain: 'third.io' }))).status).toBe(
      422,
    );
    const lost = await refusalOf(
      patchSpec(c, ZeroTrustWorkloadIdentityManager, { clusterName: null, jwtIssuer: null }),
    );
    expect(lost.causes.map(({ field }) => field)).toEqual(['spec.clusterName', 'spec.jwtIssuer']);
    await patchSpec(c, ZeroTrustWorkloadIdentityManager, { trustDomain: 'own.io' });
    await c.untilReason(SpireServer, 'ConfigSource', 'InheritedFromZTWIM');

    await patchSpec(c, ZeroTrustWorkloadIdentityManager, { identityChangePolicy: 'Forbid' });
    const forbidden = await refusalOf(patchSpec(c, ZeroTrustWorkloadIdentityManager, { clusterName: 'other' }));
    expect(forbidden.causes[0]).toMatchObject({ reason: 'FieldValueForbidden', field: 'spec.clusterName' });
  });

  type Created = readonly [Resource<KubernetesObject>, Fields];
  const { trustDomain, jwtIssuer } = COMPLETE;
  const central: Created = [ZeroTrustWorkloadIdentityManager, COMPLETE];
  const server: Created = [SpireServer, COMPLETE];
  const agent: Created = [SpireAgent, IDENTITY];
  const driver: Created = [SpiffeCSIDriver, {}];
  const provider: Created = [SpireOIDCDiscoveryProvider, { trustDomain, jwtIssuer }];

  it('scenario 15 accepts objects that are created at once, in any order, and changes that follow at once', async () => {
    await deleteAll(c);
    const orders = [
      [agent, server, central, provider, driver],
      [provider, driver, agent, server, central],
    ];
    const isCentral = (kind: Resource<KubernetesObject>) => kind === ZeroTrustWorkloadIdentityManager;
    const follows = (value: string) => (object: KubernetesObject) => JSON.stringify(inherited(object)).includes(value);
    const untilFollowing = async (value: string): Promise<void> => {
      for (const [kind] of [server, agent, provider]) await c.until<KubernetesObject>(kind, KEY, follows(value));
    };
    for (const objects of orders) {
      await Promise.all(
        objects.map(([kind, spec]) => (isCentral(kind) ? c.createOne(kind, spec) : createPaused(kind, spec))),
      );
      // Until it follows, an operand's own value contradicts the next one.
      await untilFollowing('example.io');
      await patchSpec(c, ZeroTrustWorkloadIdentityManager, { trustDomain: 'next.io' });
      await Promise.all([server, agent].map(([kind]) => patchSpec(c, kind, { trustDomain: 'next.io' })));
      await untilFollowing('next.io');
      // What was deleted contradicts the next objects, and the cache may still have it.
      await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
      for (const [kind] of objects) await c.untilGone<KubernetesObject>(kind, KEY);
    }
  });
});

describe('without webhooks, the controllers', () => {
  it('scenario 14 hold what the webhooks would refuse, and do not flap', async () => {
    await deleteAll(c);
    await removeWebhooks(c);
    await c.createOne(ZeroTrustWorkloadIdentityManager, { jwtIssuer: COMPLETE.jwtIssuer });
    await c.createOne(SpireServer);
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'Missing')).toContain('no object sets trustDomain');
    await patchSpec(c, ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.untilReason(SpireServer, 'ConfigSource', 'InheritedFromZTWIM');
    await c.until(StatefulSet, { namespace: OPERANDS, name: 'spire-server' }, () => true);
    await patchSpec(c, ZeroTrustWorkloadIdentityManager, { identityChangePolicy: 'Forbid', clusterName: 'other' });
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'IdentityChangeForbidden')).toMatch(/"prod".*"other"/);
    await patchSpec(c, ZeroTrustWorkloadIdentityManager, { clusterName: 'prod' });
    await c.untilReason(SpireServer, 'ConfigSource', 'InheritedFromZTWIM');
    await patchSpec(c, SpireServer, { trustDomain: 'other.io' });
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'Conflict')).toMatch(/"other.io".*"example.io"/);
    await c.until(ZeroTrustWorkloadIdentityManager, KEY, ({ status }) => {
      const server = status?.operands?.find(({ kind }) => kind === 'SpireServer');
      return (
        status?.conflicts?.length === 1 && server?.conditions?.some(({ reason }) => reason === 'Conflict') === true
      );
    });
    await settle();
    const start = Date.now();
    await c.advanceTime(60_000, 1_000);
    expect(await c.writes(start)).toEqual([]);
    expect((await c.admin.get(SpireServer, KEY)).spec.trustDomain).toBe('other.io');
  });
});
