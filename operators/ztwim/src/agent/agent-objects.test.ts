import { ClusterRole, ConfigMap, DaemonSet } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { Child } from '../objects/child.ts';
import { agentConfig } from '../spire/agent-config.ts';
import { renderFile } from '../spire/rendered-file.ts';
import { objectOf, objectsOf, templateOf } from '../testing/rendered.test-support.ts';
import { type AgentSpec, type Overrides, sampleAgent } from '../testing/sample-inputs.test-support.ts';
import { AGENT_VARIANTS } from '../testing/variants.test-support.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import { agentObjects } from './agent-objects.ts';

const render = (overrides: Overrides<AgentSpec> = {}): readonly Child[] => agentObjects(sampleAgent(overrides));
const variant = (name: string): readonly Child[] => render(AGENT_VARIANTS[name]);
const containerOf = (children: readonly Child[]) => templateOf(children).spec?.containers[0];
const volumeOf = (children: readonly Child[], volume: string) =>
  templateOf(children).spec?.volumes?.find(({ name }) => name === volume);
const mountOf = (children: readonly Child[], volume: string) =>
  containerOf(children)?.volumeMounts?.find(({ name }) => name === volume);

describe('agentObjects', () => {
  it('returns the workload last', () => {
    expect(render().map(({ resource }) => resource.kind)).toEqual([
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Service',
      'ConfigMap',
      'DaemonSet',
    ]);
  });

  it('puts the file and its hash in place', () => {
    const { spec, values, config, isOpenShift } = sampleAgent();
    const file = renderFile(agentConfig({ spec, values, namespace: config.operandNamespace, isOpenShift }));
    expect(objectOf(render(), ConfigMap).data).toEqual({ 'agent.conf': file.text });
    expect(templateOf(render()).metadata?.annotations).toEqual({
      'ztwim.openshift.io/spire-agent-config-hash': file.hash,
    });
  });

  it('replaces one pod at a time', () => {
    expect(objectOf(render(), DaemonSet).spec?.updateStrategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 1 },
    });
  });

  it.each<['pods' | 'proxy', string]>([
    ['pods', 'nodes/pods'],
    ['proxy', 'nodes/proxy'],
  ])('grants access to kubelet by the setting: %s', (kubeletAuthorization, resource) => {
    expect(objectOf(render({ config: { kubeletAuthorization } }), ClusterRole).rules).toEqual([
      { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get'] },
      { apiGroups: [''], resources: [resource], verbs: ['get'] },
    ]);
  });

  const fieldRef = (fieldPath: string) => [{ name: 'MY_NODE_NAME', valueFrom: { fieldRef: { fieldPath } } }];
  it.each<[string, object | undefined, boolean]>([
    ['the defaults', fieldRef('status.hostIP'), false],
    ['the defaults on OpenShift', fieldRef('spec.nodeName'), false],
    ['kubelet by name', fieldRef('spec.nodeName'), false],
    ['kubelet on localhost', undefined, true],
  ])('reaches kubelet: %s', (name, env, isOnNode) => {
    const pod = templateOf(variant(name)).spec;
    expect(pod?.containers[0]?.env).toEqual(env);
    expect(pod?.hostNetwork ?? false).toBe(isOnNode);
    expect(pod?.dnsPolicy).toBe(isOnNode ? 'ClusterFirstWithHostNet' : undefined);
    expect(pod?.hostPID).toBe(true);
  });

  it('mounts the bundle, a token for the server and the folder of the socket', () => {
    const children = render({ spec: { socketPath: '/run/other' }, values: { bundleConfigMap: 'other' } });
    expect(volumeOf(children, 'bundle')?.configMap?.name).toBe('other');
    expect(volumeOf(children, 'token')?.projected?.sources).toEqual([
      { serviceAccountToken: { audience: 'spire-server', expirationSeconds: 7200, path: 'spire-agent' } },
    ]);
    expect(mountOf(children, 'token')?.mountPath).toBe('/var/run/secrets/tokens');
    expect(volumeOf(children, 'agent-socket')?.hostPath).toEqual({ path: '/run/other', type: 'DirectoryOrCreate' });
    expect(mountOf(children, 'agent-socket')?.mountPath).toBe('/run/other');
  });

  it.each<[string, string | undefined]>([
    ['the defaults', undefined],
    ['the defaults on OpenShift', '/etc/kubernetes'],
    ['a CA of the node', '/etc/kubernetes/pki'],
    ['the CA of the cluster', undefined],
    ['no verification', undefined],
  ])('mounts the CA of kubelet only if it is a file of the node: %s', (name, folder) => {
    const children = variant(name);
    expect(volumeOf(children, 'kubelet-ca')?.hostPath).toEqual(folder && { path: folder, type: 'Directory' });
    expect(mountOf(children, 'kubelet-ca')?.mountPath).toBe(folder);
  });

  it('has constraints only on OpenShift, which admit its pods', () => {
    expect(objectsOf(render(), SecurityContextConstraints)).toEqual([]);
    const constraints = objectOf(render({ isOpenShift: true }), SecurityContextConstraints);
    expect(constraints).toMatchObject({
      metadata: { name: 'spire-agent' },
      allowHostPID: true,
      allowHostNetwork: true,
      allowHostDirVolumePlugin: true,
      allowPrivilegedContainer: false,
      users: ['system:serviceaccount:zero-trust-workload-identity-manager:spire-agent'],
    });
  });
});
