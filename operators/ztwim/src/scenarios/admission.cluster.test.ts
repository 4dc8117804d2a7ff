import { type KubernetesObject, type Resource, StatefulSet } from '@bowline/kubernetes';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { deleteAll } from './deletion.test-support.ts';
import { DisturbedWatches } from './disturbed-watches.test-support.ts';
import { refusalOf } from './refusal.test-support.ts';
import { removeWebhooks } from './remove-webhooks.test-support.ts';

const KEY = { name: SINGLETON };
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
afterEach(() => deleteAll(c));

describe('admission', () => {
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
    const agent = await c.createOne(SpireAgent, { trustDomain: 'example.io' });
    expect(agent.spec).toMatchObject(IDENTITY);
    expect(inherited(agent)).toEqual(IDENTITY);
    const provider = await c.createOne(SpireOIDCDiscoveryProvider);
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

  it('scenario 12 refuses a configuration without values or with a new contradiction, but no other change', async () => {
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

  it('scenario 13 writes nothing in a dry run', async () => {
    const options = { dryRun: true };
    const metadata = { name: SINGLETON };
    const operands: readonly Resource<KubernetesObject>[] = [
      SpireServer,
      SpireAgent,
      SpiffeCSIDriver,
      SpireOIDCDiscoveryProvider,
    ];
    await c.idle();
    const start = Date.now();
    await c.admin.create(ZeroTrustWorkloadIdentityManager, { metadata, spec: COMPLETE }, options);
    for (const kind of operands) await c.admin.create(kind, { metadata }, options);
    for (const kind of [ZeroTrustWorkloadIdentityManager, ...operands]) {
      expect((await c.admin.list<KubernetesObject>(kind)).items).toEqual([]);
    }
    await c.idle();
    expect(await c.writes(start)).toEqual([]);

    const others = ['SpireAgent', 'SpiffeCSIDriver', 'SpireOIDCDiscoveryProvider'];
    await c.createOne(ZeroTrustWorkloadIdentityManager, { ...COMPLETE, requiredOperands: others });
    for (const kind of operands.slice(1)) await c.createOne(kind);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    await settle(c);
    const before = await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY);
    const changedAt = Date.now();
    const patch = { type: 'merge', body: { spec: { trustDomain: 'next.io' } } } as const;
    const answer = await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, patch, options);
    expect(answer.spec.trustDomain).toBe('next.io');
    for (const kind of operands.slice(1)) await c.admin.delete(kind, KEY, options);
    await c.idle();
    expect(await c.writes(changedAt)).toEqual([]);
    expect(await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY)).toEqual(before);
  });

  it('scenario 14 leaves metadata, status and deletion to users while the operator is down', async () => {
    await c.createAll();
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
});

/** settle waits until the operator has written everything, also events that it records with a delay. */
async function settle(c: ZtwimCluster): Promise<void> {
  await c.advanceTime(5_000, 1_000);
  await c.idle();
}

describe('admission right after a change', () => {
  it('scenario 15 accepts what only an old cache contradicts', async () => {
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.createOne(SpiffeCSIDriver);
    await c.untilReason(SpiffeCSIDriver, 'ConfigSource', 'InheritedFromZTWIM');
    {
      using _ = watches.hold();
      await patchSpec(c, ZeroTrustWorkloadIdentityManager, { trustDomain: 'next.io' });
      await c.createOne(SpireServer, { trustDomain: 'next.io' });
      // An empty operand gets the old value, and follows the new one as soon as the cache has it.
      const agent = await c.createOne(SpireAgent);
      expect(agent.spec.trustDomain).toBe('example.io');
      const { causes } = await refusalOf(c.createOne(SpireOIDCDiscoveryProvider, { trustDomain: 'other.io' }));
      expect(causes[0]?.message).toMatch(/"other.io".*"next.io"/);
    }
    for (const kind of [SpireServer, SpireAgent]) {
      await c.until<KubernetesObject>(kind, KEY, (object) => JSON.stringify(inherited(object)).includes('next.io'));
    }
  });

  const operands = [
    [SpireServer, { ...IDENTITY, jwtIssuer: COMPLETE.jwtIssuer }],
    [SpireAgent, IDENTITY],
    [SpiffeCSIDriver, {}],
    [SpireOIDCDiscoveryProvider, { trustDomain: COMPLETE.trustDomain, jwtIssuer: COMPLETE.jwtIssuer }],
  ] as const;
  const central = [ZeroTrustWorkloadIdentityManager, COMPLETE] as const;
  const [server, agent, driver, provider] = operands;

  it('scenario 15 accepts objects that are created at once, in any order, and changes that follow at once', async () => {
    const orders = [
      [agent, server, central, provider, driver],
      [provider, driver, agent, server, central],
    ];
    for (const objects of orders) {
      await Promise.all(objects.map(([kind, spec]) => c.createOne(kind as Resource<KubernetesObject>, spec)));
      for (const trustDomain of ['one.io', 'two.io']) {
        const follows = (value: string) => (object: KubernetesObject) =>
          JSON.stringify(inherited(object)).includes(value);
        // Until it follows, an operand's own value contradicts the next one.
        for (const [kind] of [server, agent, provider]) await c.until<KubernetesObject>(kind, KEY, follows('.io'));
        await patchSpec(c, ZeroTrustWorkloadIdentityManager, { trustDomain });
        await Promise.all([server, agent].map(([kind]) => patchSpec<KubernetesObject>(c, kind, { trustDomain })));
        for (const [kind] of [server, agent, provider])
          await c.until<KubernetesObject>(kind, KEY, follows(trustDomain));
      }
      // What was deleted contradicts the next objects, and the cache may still have it.
      await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY);
      for (const [kind] of objects) await c.untilRemoved(kind);
    }
  });
});

describe('without webhooks, the controllers', () => {
  it('scenario 14 hold what the webhooks would refuse, and do not flap', async () => {
    await removeWebhooks(c);
    await c.createOne(ZeroTrustWorkloadIdentityManager, { jwtIssuer: COMPLETE.jwtIssuer });
    await c.createOne(SpireServer);
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'Missing')).toContain('no object sets trustDomain');
    await patchSpec(c, ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.untilReason(SpireServer, 'ConfigSource', 'InheritedFromZTWIM');
    await c.until(StatefulSet, { namespace: OPERANDS, name: 'spire-server' }, () => true);
    await patchSpec(c, SpireServer, { trustDomain: 'other.io' });
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'Conflict')).toMatch(/"other.io".*"example.io"/);
    await c.until(ZeroTrustWorkloadIdentityManager, KEY, ({ status }) => {
      const server = status?.operands?.find(({ kind }) => kind === 'SpireServer');
      return (
        status?.conflicts?.length === 1 && server?.conditions?.some(({ reason }) => reason === 'Conflict') === true
      );
    });
    await settle(c);
    const start = Date.now();
    await c.advanceTime(60_000, 1_000);
    expect(await c.writes(start)).toEqual([]);
    expect((await c.admin.get(SpireServer, KEY)).spec.trustDomain).toBe('other.io');
  });
});
