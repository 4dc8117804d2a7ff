import { DaemonSet } from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { describe, expect, it } from 'vitest';
import type { Child } from '../objects/child.ts';
import { objectOf, objectsOf, templateOf } from '../testing/rendered.test-support.ts';
import { type CsiSpec, type Overrides, sampleCsi } from '../testing/sample-inputs.test-support.ts';
import { CSI_VARIANTS, PODS } from '../testing/variants.test-support.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import { csiObjects } from './csi-objects.ts';

const render = (overrides: Overrides<CsiSpec> = {}): readonly Child[] => csiObjects(sampleCsi(overrides));
const hostPaths = (children: readonly Child[]) =>
  Object.fromEntries((templateOf(children).spec?.volumes ?? []).map(({ name, hostPath }) => [name, hostPath?.path]));

describe('csiObjects', () => {
  it('returns the workload last', () => {
    expect(render().map(({ resource }) => resource.kind)).toEqual(['ServiceAccount', 'CSIDriver', 'DaemonSet']);
  });

  it('registers a driver of inline volumes under its name', () => {
    const { metadata, spec } = objectOf(render({ spec: { pluginName: 'csi.example.io' } }), CSIDriver);
    expect(metadata?.name).toBe('csi.example.io');
    expect(spec).toEqual({
      attachRequired: false,
      podInfoOnMount: true,
      fsGroupPolicy: 'None',
      volumeLifecycleModes: ['Ephemeral'],
    });
  });

  it('uses the paths of the node and the name of the driver in the right places', () => {
    const children = render(CSI_VARIANTS['other paths']);
    expect(hostPaths(children)).toEqual({
      'spire-agent-socket-dir': '/run/other',
      'spiffe-csi-socket-dir': '/data/kubelet/plugins/csi.example.io',
      'mountpoint-dir': '/data/kubelet/pods',
      'kubelet-plugin-registration-dir': '/data/kubelet/plugins_registry',
    });
    const [driver, registrar] = templateOf(children).spec?.containers ?? [];
    expect(driver?.args).toEqual([
      '-workload-api-socket-dir',
      '/spire-agent-socket',
      '-plugin-name',
      'csi.example.io',
      '-csi-socket-path',
      '/spiffe-csi/csi.sock',
    ]);
    expect(driver?.volumeMounts).toContainEqual({
      name: 'mountpoint-dir',
      mountPath: '/data/kubelet/pods',
      mountPropagation: 'Bidirectional',
    });
    expect(registrar?.args).toEqual([
      '-csi-address',
      '/spiffe-csi/csi.sock',
      '-kubelet-registration-path',
      '/data/kubelet/plugins/csi.example.io/csi.sock',
      '-health-port',
      '9809',
    ]);
  });

  it('runs only the driver with privileges', () => {
    const { containers = [] } = templateOf(render()).spec ?? {};
    expect(containers.map(({ securityContext }) => securityContext?.privileged ?? false)).toEqual([true, false]);
  });

  it.each<[string, Overrides<CsiSpec>, boolean]>([
    ['by default', {}, false],
    ['on OpenShift', { isOpenShift: true }, true],
    ['on OpenShift, but switched off', { spec: { selinux: false }, isOpenShift: true }, false],
    ['if switched on', { spec: { selinux: true } }, true],
  ])('sets the SELinux context %s', (_, overrides, isSet) => {
    const names = templateOf(render(overrides)).spec?.initContainers?.map(({ name }) => name);
    expect(names).toEqual(isSet ? ['set-context'] : undefined);
  });

  it('does not apply resources to init containers', () => {
    const [init] = templateOf(render({ spec: { ...PODS, selinux: true } })).spec?.initContainers ?? [];
    expect(init).toBeDefined();
    expect(init).not.toHaveProperty('resources');
  });

  it('lets restricted pods use the driver on OpenShift, and admits its own pods there', () => {
    const label = 'security.openshift.io/csi-ephemeral-volume-profile';
    expect(objectOf(render(), CSIDriver).metadata?.labels).not.toHaveProperty([label]);
    expect(objectsOf(render(), SecurityContextConstraints)).toEqual([]);
    const children = render({ isOpenShift: true });
    expect(objectOf(children, CSIDriver).metadata?.labels).toHaveProperty([label], 'restricted');
    expect(objectOf(children, DaemonSet).metadata?.labels).not.toHaveProperty([label]);
    expect(objectOf(children, SecurityContextConstraints)).toMatchObject({
      metadata: { name: 'spire-spiffe-csi-driver' },
      allowPrivilegedContainer: true,
      allowHostDirVolumePlugin: true,
      users: ['system:serviceaccount:zero-trust-workload-identity-manager:spire-spiffe-csi-driver'],
    });
  });
});
