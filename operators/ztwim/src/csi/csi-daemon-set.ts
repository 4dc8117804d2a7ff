import type { DaemonSet } from '@bowline/kubernetes';
import type { Container, PodSpec, Volume } from '@bowline/kubernetes/core-v1';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { podTemplate, RESTRICTED } from '../objects/pod-template.ts';
import { CSI_DRIVER, PORTS } from '../spire/names.ts';
import { type CsiInput, csiComponent } from './csi-input.ts';

const AGENT_SOCKET_DIR = '/spire-agent-socket';
const CSI_SOCKET_DIR = '/spiffe-csi';
const CSI_SOCKET = 'csi.sock';

/** csiDaemonSet returns the workload of the driver. */
export function csiDaemonSet(input: CsiInput): DaemonSet {
  const { config } = input;
  const of = csiComponent(input);
  return {
    metadata: { name: CSI_DRIVER, namespace: config.operandNamespace, labels: objectLabels(input, of) },
    spec: {
      selector: { matchLabels: selectorLabels(of) },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: podTemplate(input, of, {
        serviceAccountName: CSI_DRIVER,
        containers: [driverContainer(input), registrarContainer(input)],
        volumes: volumesOf(input),
        more: seLinuxInit(input),
      }),
    },
  };
}

/** Pods of any SELinux context must be able to use the socket. */
function seLinuxInit({ spec, config, isOpenShift }: CsiInput): Partial<PodSpec> {
  if (!(spec.selinux ?? isOpenShift)) return {};
  return {
    initContainers: [
      {
        name: 'set-context',
        image: config.images.seLinuxInit,
        command: ['chcon', '-Rvt', 'container_file_t', `${AGENT_SOCKET_DIR}/`],
        securityContext: { privileged: true, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'spire-agent-socket-dir', mountPath: AGENT_SOCKET_DIR }],
      },
    ],
  };
}

function driverContainer({ spec, config }: CsiInput): Container {
  return {
    name: 'spiffe-csi-driver',
    image: config.images.spiffeCSIDriver,
    args: [
      '-workload-api-socket-dir',
      AGENT_SOCKET_DIR,
      '-plugin-name',
      spec.pluginName,
      '-csi-socket-path',
      `${CSI_SOCKET_DIR}/${CSI_SOCKET}`,
    ],
    env: [{ name: 'MY_NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    // It mounts the socket into the folders of other pods, which the node has to see.
    securityContext: { privileged: true, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'spire-agent-socket-dir', mountPath: AGENT_SOCKET_DIR, readOnly: true },
      { name: 'spiffe-csi-socket-dir', mountPath: CSI_SOCKET_DIR },
      {
        name: 'mountpoint-dir',
        mountPath: `${spec.kubeletPath}/pods`,
        mountPropagation: 'Bidirectional',
      },
    ],
  };
}

function registrarContainer({ spec, config }: CsiInput): Container {
  return {
    name: 'node-driver-registrar',
    image: config.images.nodeDriverRegistrar,
    args: [
      '-csi-address',
      `${CSI_SOCKET_DIR}/${CSI_SOCKET}`,
      '-kubelet-registration-path',
      `${pluginDir(spec)}/${CSI_SOCKET}`,
      '-health-port',
      String(PORTS.registrarHealth),
    ],
    ports: [{ name: 'healthz', containerPort: PORTS.registrarHealth, protocol: 'TCP' }],
    livenessProbe: {
      httpGet: { path: '/healthz', port: 'healthz' },
      initialDelaySeconds: 5,
      timeoutSeconds: 5,
    },
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'spiffe-csi-socket-dir', mountPath: CSI_SOCKET_DIR },
      { name: 'kubelet-plugin-registration-dir', mountPath: '/registration' },
    ],
  };
}

function volumesOf({ spec }: CsiInput): readonly Volume[] {
  return [
    { name: 'spire-agent-socket-dir', hostPath: { path: spec.agentSocketPath, type: 'DirectoryOrCreate' } },
    { name: 'spiffe-csi-socket-dir', hostPath: { path: pluginDir(spec), type: 'DirectoryOrCreate' } },
    { name: 'mountpoint-dir', hostPath: { path: `${spec.kubeletPath}/pods`, type: 'Directory' } },
    {
      name: 'kubelet-plugin-registration-dir',
      hostPath: { path: `${spec.kubeletPath}/plugins_registry`, type: 'Directory' },
    },
  ];
}

function pluginDir({ kubeletPath, pluginName }: CsiInput['spec']): string {
  return `${kubeletPath}/plugins/${pluginName}`;
}
