import { ConfigMap, DaemonSet, Deployment, StatefulSet } from '@bowline/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { AGENT, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { deleteAll, KEY, untilEvent, workloadsLeft } from './deletion.test-support.ts';

let c: ZtwimCluster;
beforeAll(async () => {
  c = await ztwimCluster({ leaderElection: false });
});
afterAll(() => c[Symbol.asyncDispose]());

async function untilFile(name: string, ...texts: readonly string[]): Promise<void> {
  await c.until(ConfigMap, { namespace: OPERANDS, name }, ({ data }) =>
    texts.every((text) => Object.values(data ?? {}).some((file) => file.includes(text))),
  );
}

function hasSource({ status }: ZeroTrustWorkloadIdentityManager, source: string): boolean {
  return status?.effectiveConfig?.sources?.trustDomain === source;
}

describe('shared values', () => {
  it('scenario 07 hold an operand while one of them is missing: nothing is created', async () => {
    const { jwtIssuer: _, ...incomplete } = COMPLETE;
    await c.createOne(ZeroTrustWorkloadIdentityManager, incomplete);
    await c.createOne(SpireServer);
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'Missing')).toBe(
      'no object sets jwtIssuer; set ZeroTrustWorkloadIdentityManager.spec.jwtIssuer',
    );
    expect(await workloadsLeft(c)).toEqual([]);
    const { items } = await c.admin.list(ConfigMap, { namespace: OPERANDS });
    expect(items.map(({ metadata }) => metadata?.name).filter((name) => name !== 'kube-root-ca.crt')).toEqual([]);
    await deleteAll(c);
  });

  it('scenario 08 hold an operand until their object is created', async () => {
    await c.createOne(SpireServer);
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'ParentMissing')).toContain('create it');
    await c.untilReason(SpireServer, 'Ready', 'ParentMissing');
    await untilEvent(c, 'SpireServer', 'ParentMissing');
    expect(await workloadsLeft(c)).toEqual([]);
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    await c.untilReason(SpireServer, 'Ready', 'Ready');
  });

  it('scenario 05 appear in the specs, the files and the status of empty operands', async () => {
    for (const kind of [SpireAgent, SpiffeCSIDriver, SpireOIDCDiscoveryProvider])
      await c.createOne(kind as typeof SpireAgent);
    const { spec, metadata } = await c.until(SpireAgent, KEY, (agent) => agent.spec.trustDomain === 'example.io');
    expect(spec.clusterName).toBe('prod');
    expect(metadata?.annotations?.[ANNOTATIONS.inherited]).toBe('{"trustDomain":"example.io","clusterName":"prod"}');
    const server = await c.until(SpireServer, KEY, ({ spec: { jwtIssuer } }) => jwtIssuer === COMPLETE.jwtIssuer);
    expect(server.spec).toMatchObject(COMPLETE);
    const { trustDomain, jwtIssuer } = COMPLETE;
    const hasValues = (each: SpireOIDCDiscoveryProvider) => each.spec.jwtIssuer === jwtIssuer;
    expect((await c.until(SpireOIDCDiscoveryProvider, KEY, hasValues)).spec).toMatchObject({ trustDomain, jwtIssuer });
    await untilFile(SERVER, '"trust_domain": "example.io"', '"jwt_issuer": "https://oidc.example.io"', '"prod"');
    await untilFile(AGENT, '"trust_domain": "example.io"', '"cluster": "prod"');
    await untilFile(OIDC_PROVIDER, '"trust_domain": "example.io"', '"jwt_issuer": "https://oidc.example.io"');
    await untilFile('spire-controller-manager', '"trustDomain": "example.io"', '"clusterName": "prod"');
    await c.untilList(StatefulSet, { namespace: OPERANDS }, (found) => found.length === 1);
    await c.untilList(DaemonSet, { namespace: OPERANDS }, (found) => found.length === 2);
    await c.untilList(Deployment, { namespace: OPERANDS }, (found) => found.length === 1);
    const { status } = await c.until(
      ZeroTrustWorkloadIdentityManager,
      KEY,
      (parent) =>
        parent.status?.operands?.length === 4 && parent.status.operands.every(({ ready }) => ready === 'true'),
    );
    expect(status?.effectiveConfig).toEqual({
      ...COMPLETE,
      bundleConfigMap: 'spire-bundle',
      sources: { trustDomain: 'ZTWIM', clusterName: 'ZTWIM', bundleConfigMap: 'Default', jwtIssuer: 'ZTWIM' },
    });
    await c.untilReason(SpireAgent, 'ConfigSource', 'InheritedFromZTWIM');
  });

  it('scenario 10 include the issuer, which server and provider get from their object', async () => {
    const jwtIssuer = 'https://issuer.example.io';
    await c.clock.advance(500);
    await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: { jwtIssuer } } });
    await c.until(SpireServer, KEY, ({ spec }) => spec.jwtIssuer === jwtIssuer);
    await c.until(SpireOIDCDiscoveryProvider, KEY, ({ spec }) => spec.jwtIssuer === jwtIssuer);
    for (const name of [SERVER, OIDC_PROVIDER]) await untilFile(name, `"jwt_issuer": "${jwtIssuer}"`);
    await deleteAll(c);
  });

  it('scenario 06 are used if only the server has them, with advice', async () => {
    await c.createOne(SpireServer, { trustDomain: 'own.io', jwtIssuer: 'https://own.io' });
    await c.createOne(SpireAgent);
    const metadata = { name: SINGLETON, annotations: { [ANNOTATIONS.migration]: 'disabled' } };
    await c.admin.create(ZeroTrustWorkloadIdentityManager, { metadata, spec: { clusterName: 'prod' } });
    await c.untilReason(SpireAgent, 'ConfigSource', 'LegacyOperandValue');
    await untilFile(AGENT, '"trust_domain": "own.io"');
    const { status } = await c.until(ZeroTrustWorkloadIdentityManager, KEY, (parent) => hasSource(parent, 'Operand'));
    expect(status?.effectiveConfig?.trustDomain).toBe('own.io');
    expect(await untilEvent(c, 'SpireAgent', 'ConfigAdvice')).toContain('trustDomain');
  });

  it('scenario 10 include the issuer of the server alone, which the provider uses, and must not contradict', async () => {
    await c.createOne(SpireOIDCDiscoveryProvider);
    await untilFile(OIDC_PROVIDER, '"jwt_issuer": "https://own.io"');
    const spec = { jwtIssuer: 'https://other.io' };
    const refusal = await refusalOf(c.admin.patch(SpireOIDCDiscoveryProvider, KEY, { type: 'merge', body: { spec } }));
    expect([refusal.status, refusal.causes[0]?.field]).toEqual([422, 'spec.jwtIssuer']);
    expect(refusal.message).toMatch(/"https:\/\/other.io".*"https:\/\/own.io"/);
    await deleteAll(c);
  });

  it('scenario 09 stay out of the spec of an operand that opted out', async () => {
    const annotations = { [ANNOTATIONS.inheritIntoSpec]: 'false' };
    await c.admin.create(SpireAgent, { metadata: { name: SINGLETON, annotations }, spec: {} });
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    await untilFile(AGENT, '"trust_domain": "example.io"', '"cluster": "prod"');
    await c.untilReason(SpireAgent, 'ConfigSource', 'InheritedFromZTWIM');
    await c.idle();
    expect((await c.admin.get(SpireAgent, KEY)).spec.trustDomain).toBeUndefined();
  });
});
