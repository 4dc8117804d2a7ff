import { ConfigMap, DaemonSet, Deployment, StatefulSet } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { COMPLETE, OPERANDS, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';

const KEY = { name: SINGLETON };

describe('shared values', () => {
  it('scenario 05 appear in the specs, the files and the status of empty operands', async () => {
    await using c = await ztwimCluster();
    await c.createAll();
    const { spec, metadata } = await c.until(SpireAgent, KEY, (agent) => agent.spec.trustDomain === 'example.io');
    expect(spec.clusterName).toBe('prod');
    expect(metadata?.annotations?.[ANNOTATIONS.inherited]).toBe('{"trustDomain":"example.io","clusterName":"prod"}');

    const { data } = await c.until(ConfigMap, { namespace: OPERANDS, name: 'spire-server' }, () => true);
    expect(JSON.parse(data?.['server.conf'] ?? '')).toMatchObject({
      server: { trust_domain: 'example.io', jwt_issuer: 'https://oidc.example.io' },
    });
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
      trustDomain: 'example.io',
      clusterName: 'prod',
      bundleConfigMap: 'spire-bundle',
      jwtIssuer: 'https://oidc.example.io',
      sources: { trustDomain: 'ZTWIM', clusterName: 'ZTWIM', bundleConfigMap: 'Default', jwtIssuer: 'ZTWIM' },
    });
    await c.untilReason(SpireServer, 'Ready', 'Ready');
  });

  it('scenario 06 are used if only the server has them, with advice', async () => {
    await using c = await ztwimCluster();
    await c.createOne(SpireServer, { trustDomain: 'own.io' });
    await c.createOne(SpireAgent);
    const metadata = { name: SINGLETON, annotations: { [ANNOTATIONS.migration]: 'disabled' } };
    const spec = { clusterName: 'prod', jwtIssuer: 'https://a.io' };
    await c.admin.create(ZeroTrustWorkloadIdentityManager, { metadata, spec });
    await c.untilReason(SpireAgent, 'ConfigSource', 'LegacyOperandValue');
    const { data } = await c.until(ConfigMap, { namespace: OPERANDS, name: 'spire-agent' }, () => true);
    expect(JSON.parse(data?.['agent.conf'] ?? '')).toMatchObject({ agent: { trust_domain: 'own.io' } });
    const { status } = await c.until(ZeroTrustWorkloadIdentityManager, KEY, (parent) => hasSource(parent, 'Operand'));
    expect(status?.effectiveConfig?.trustDomain).toBe('own.io');
  });

  it('scenario 07 and 08 hold operands while they or the parent are missing', async () => {
    await using c = await ztwimCluster();
    await c.createOne(SpireServer);
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'ParentMissing')).toContain('create it');
    await c.createOne(ZeroTrustWorkloadIdentityManager, { clusterName: 'prod', trustDomain: 'example.io' });
    expect(await c.untilReason(SpireServer, 'ConfigSource', 'Missing')).toBe(
      'no object sets jwtIssuer; set ZeroTrustWorkloadIdentityManager.spec.jwtIssuer',
    );
    expect((await c.admin.list(StatefulSet, { namespace: OPERANDS })).items).toEqual([]);
    const body = { spec: { jwtIssuer: 'https://a.io' } };
    await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
    await c.untilReason(SpireServer, 'Ready', 'Ready');
  });

  it('scenario 09 stay out of the spec of an operand that opted out', async () => {
    await using c = await ztwimCluster();
    const annotations = { [ANNOTATIONS.inheritIntoSpec]: 'false' };
    await c.admin.create(SpireAgent, { metadata: { name: SINGLETON, annotations }, spec: {} });
    await c.createOne(ZeroTrustWorkloadIdentityManager, COMPLETE);
    const { data } = await c.until(ConfigMap, { namespace: OPERANDS, name: 'spire-agent' }, () => true);
    expect(JSON.parse(data?.['agent.conf'] ?? '')).toMatchObject({ agent: { trust_domain: 'example.io' } });
    await c.idle();
    expect((await c.admin.get(SpireAgent, KEY)).spec.trustDomain).toBeUndefined();
  });
});

function hasSource({ status }: ZeroTrustWorkloadIdentityManager, source: string): boolean {
  return status?.effectiveConfig?.sources?.trustDomain === source;
}
