import { hash } from 'node:crypto';
import type { DaemonSet, ObjectKey, PodSpec, Toleration } from '@bowline/kubernetes';
import type { HSMDevice } from '../api/hsm-device.ts';
import { discoveryName, isTestMode, LABELS, labelsOf } from '../api/names.ts';
import { fixedPart } from '../discovery/scan-device-path.ts';

/** HSM_NODE is the taint of nodes that are reserved for HSM devices; discovery and agents tolerate it. */
export const HSM_NODE: Toleration = { key: 'hsm-node', operator: 'Exists', effect: 'NoSchedule' };

const HEALTH_PORT = 8093;
const DEVICE_PLUGINS = '/var/lib/kubelet/device-plugins';
const USB = '/dev/bus/usb';
/** Where the file systems of the node are mounted in the container. */
const HOST = '/host';

/** desiredDaemonSet returns the DaemonSet that searches the nodes for the devices of an HSMDevice. */
export function desiredDaemonSet(device: HSMDevice, key: ObjectKey, image: string): DaemonSet {
  const labels = labelsOf('discovery', key.name);
  const spec = podSpec(device, key.name, image);
  return {
    metadata: { namespace: key.namespace, name: discoveryName(key.name), labels },
    spec: {
      selector: { matchLabels: { [LABELS.component]: 'discovery', [LABELS.device]: key.name } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } },
      template: { metadata: { labels: { ...labels, [LABELS.templateHash]: templateHash(spec) } }, spec },
    },
  };
}

/** templateHash identifies the template that a pod was created from. */
export function templateHash(spec: PodSpec): string {
  return hash('sha256', JSON.stringify(spec), 'hex').slice(0, 10);
}

function podSpec({ metadata, spec }: HSMDevice, name: string, image: string): PodSpec {
  const isTest = isTestMode(metadata);
  const paths = isTest ? [] : hostPaths(spec);
  const mounts = paths.map((path, index) => ({
    name: `host-${index}`,
    mountPath: `${HOST}${path}`,
    readOnly: true,
  }));
  const plugins = { name: 'device-plugins', mountPath: DEVICE_PLUGINS };
  return {
    serviceAccountName: discoveryName(name),
    // The ServiceAccount mounts no token by default: agents of the same namespace must not get one.
    automountServiceAccountToken: true,
    ...(spec.nodeSelector ? { nodeSelector: spec.nodeSelector } : {}),
    tolerations: [HSM_NODE, ...spec.tolerations],
    containers: [
      {
        name: 'discovery',
        image,
        args: ['hsm-secrets', 'discovery', '--device', name, ...(isTest ? ['--test-mode'] : hostFlags())],
        env: [
          { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
          { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
        ],
        ports: [{ name: 'health', containerPort: HEALTH_PORT }],
        livenessProbe: { httpGet: { path: '/livez', port: 'health' }, periodSeconds: 20, failureThreshold: 3 },
        resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        ...(isTest ? {} : { volumeMounts: [...mounts, plugins] }),
        securityContext: {
          // The files of the kubelet's device plugins belong to root.
          ...(isTest ? { runAsUser: 65532, runAsNonRoot: true } : { runAsUser: 0 }),
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
      },
    ],
    ...(isTest
      ? {}
      : {
          volumes: [
            ...paths.map((path, index) => ({ name: `host-${index}`, hostPath: { path } })),
            { name: 'device-plugins', hostPath: { path: DEVICE_PLUGINS } },
          ],
        }),
  };
}

function hostFlags(): readonly string[] {
  return ['--sysfs', `${HOST}/sys`, '--dev', `${HOST}/dev`, '--run', `${HOST}/run`];
}

/** hostPaths returns the folders of the node that discovery reads. */
function hostPaths({ discovery }: HSMDevice['spec']): readonly string[] {
  const { autoDiscovery, usb = [], devicePath } = discovery ?? { autoDiscovery: true };
  return [
    ...(autoDiscovery || usb.length > 0 ? ['/sys', '/run/udev', USB] : []),
    ...(devicePath ? [fixedPart(devicePath.path)] : []),
  ].filter((path, index, all) => all.indexOf(path) === index);
}
