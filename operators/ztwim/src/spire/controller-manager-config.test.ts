import { describe, expect, it } from 'vitest';
import { type ServerOverrides, sampleServer } from '../testing/sample-inputs.test-support.ts';
import { controllerManagerConfig } from './controller-manager-config.ts';
import { renderFile } from './rendered-file.ts';

function read(overrides: ServerOverrides = {}): object {
  const { values, history, config } = sampleServer(overrides);
  const { operandNamespace: namespace, clusterDomain, className } = config;
  const file = renderFile(controllerManagerConfig({ values, namespace, clusterDomain, className, history }));
  return JSON.parse(file.text) as object;
}

describe('controllerManagerConfig', () => {
  it('contains the defaults', () => {
    expect(read()).toEqual({
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ControllerManagerConfig',
      metrics: { bindAddress: '0.0.0.0:8082' },
      health: { healthProbeBindAddress: '0.0.0.0:8083' },
      leaderElection: {
        leaderElect: true,
        resourceName: 'spire-controller-manager-leader-election',
        resourceNamespace: 'zero-trust-workload-identity-manager',
      },
      clusterName: 'one',
      clusterDomain: 'cluster.local',
      trustDomain: 'example.io',
      className: 'zero-trust-workload-identity-manager-spire',
      watchClassless: false,
      entryIDPrefix: 'one',
      ignoreNamespaces: ['^kube-system$', '^kube-public$', '^openshift-.*$'],
      parentIDTemplate: 'spiffe://{{ .TrustDomain }}/spire/agent/k8s_psat/{{ .ClusterName }}/{{ .NodeMeta.UID }}',
      reconcile: { clusterSPIFFEIDs: true, clusterStaticEntries: true, clusterFederatedTrustDomains: true },
      spireServerSocketPath: '/tmp/spire-server/private/api.sock',
      validatingWebhookConfigurationName: 'spire-controller-manager-webhook',
    });
  });

  it('contains the shared values and the settings', () => {
    const values = { trustDomain: 'b.io', clusterName: 'two' };
    const config = { operandNamespace: 'spire', clusterDomain: 'k8s.local', className: 'ours' };
    expect(read({ values, config })).toMatchObject({
      trustDomain: 'b.io',
      clusterName: 'two',
      entryIDPrefix: 'two',
      clusterDomain: 'k8s.local',
      className: 'ours',
      leaderElection: { resourceNamespace: 'spire' },
    });
  });

  it('removes the entries of the previous cluster name', () => {
    const history = { trustDomain: { first: 'a', current: 'a' }, clusterName: { current: 'one', previous: 'zero' } };
    expect(read({ history })).toHaveProperty('entryIDPrefixCleanup', 'zero');
  });

  it('does not remove the entries of the current cluster name', () => {
    const history = { trustDomain: { first: 'a', current: 'a' }, clusterName: { current: 'one', previous: 'one' } };
    expect(read({ history })).not.toHaveProperty('entryIDPrefixCleanup');
  });
});
