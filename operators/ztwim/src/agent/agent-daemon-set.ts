import type { DaemonSet } from '@bowline/kubernetes';
import type { Container, PodSpec, Volume, VolumeMount } from '@bowline/kubernetes/core-v1';
import { objectLabels, selectorLabels } from '../objects/labels.ts';
import { podTemplate, RESTRICTED } from '../objects/pod-template.ts';
import { BUNDLE_DIR, kubeletVerification, NODE_NAME_VARIABLE } from '../spire/agent-config.ts';
import { AGENT, AUDIENCE, PORTS } from '../spire/names.ts';
import type { RenderedFile } from '../spire/rendered-file.ts';
import { AGENT_CONF, type AgentInput, agentComponent } from './agent-input.ts';

const CONFIG_DIR = '/opt/spire/conf/agent';
/** Where the plugin k8s_psat of SPIRE expects its token. */
const TOKEN_DIR = '/var/run/secrets/tokens';
const TOKEN_SECONDS = 7200;

/** BUNDLE_VOLUME is the volume with the trust bundle. */
export const BUNDLE_VOLUME = 'bundle';

/** AGENT_HASH is the annotation of the pods whose change restarts the agents. */
export const AGENT_HASH = 'ztwim.openshift.io/spire-agent-config-hash';

/** agentDaemonSet returns the workload of the agents. */
export function agentDaemonSet(input: AgentInput, file: RenderedFile): DaemonSet {
  const of = agentComponent(input);
  const { config } = input;
  const { volumes, volumeMounts } = mountsOf(input);
  return {
    metadata: { name: AGENT, namespace: config.operandNamespace, labels: objectLabels(input, of) },
    spec: {
      selector: { matchLabels: selectorLabels(of) },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      template: podTemplate(input, of, {
        serviceAccountName: AGENT,
        annotations: { [AGENT_HASH]: file.hash },
        containers: [
          {
            name: AGENT,
            image: config.images.spireAgent,
            args: ['-config', `${CONFIG_DIR}/${AGENT_CONF}`],
            ...kubeletAddress(input),
            ports: [
              { name: 'healthz', containerPort: PORTS.agentHealth, protocol: 'TCP' },
              { name: 'metrics', containerPort: PORTS.metrics, protocol: 'TCP' },
            ],
            livenessProbe: {
              httpGet: { path: '/live', port: 'healthz' },
              initialDelaySeconds: 15,
              periodSeconds: 60,
            },
            readinessProbe: {
              httpGet: { path: '/ready', port: 'healthz' },
              initialDelaySeconds: 10,
              periodSeconds: 30,
            },
            securityContext: RESTRICTED,
            volumeMounts,
          },
        ],
        volumes,
        more: { hostPID: true, ...network(input) },
      }),
    },
  };
}

function addressOf({ spec, isOpenShift }: AgentInput): 'HostIP' | 'NodeName' | 'Localhost' {
  return spec.kubeletAddress ?? (isOpenShift ? 'NodeName' : 'HostIP');
}

/** Without the variable, the agent uses localhost. */
function kubeletAddress(input: AgentInput): Pick<Container, 'env'> {
  const address = addressOf(input);
  if (address === 'Localhost') return {};
  const fieldPath = address === 'NodeName' ? 'spec.nodeName' : 'status.hostIP';
  return { env: [{ name: NODE_NAME_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }] };
}

/** Only the network of the node reaches kubelet on localhost. */
function network(input: AgentInput): Partial<PodSpec> {
  return addressOf(input) === 'Localhost' ? { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } : {};
}

function mountsOf(input: AgentInput): {
  readonly volumes: readonly Volume[];
  readonly volumeMounts: readonly VolumeMount[];
} {
  const { spec, values } = input;
  const verification = kubeletVerification(input);
  const kubeletCA = verification.type === 'file' ? verification : undefined;
  return {
    volumes: [
      { name: 'agent-config', configMap: { name: AGENT } },
      { name: 'agent-persistence', emptyDir: {} },
      { name: BUNDLE_VOLUME, configMap: { name: values.bundleConfigMap } },
      {
        name: 'token',
        projected: {
          sources: [{ serviceAccountToken: { audience: AUDIENCE, expirationSeconds: TOKEN_SECONDS, path: AGENT } }],
        },
      },
      { name: 'agent-socket', hostPath: { path: spec.socketPath, type: 'DirectoryOrCreate' } },
      ...(kubeletCA ? [{ name: 'kubelet-ca', hostPath: { path: kubeletCA.folder, type: 'Directory' } } as const] : []),
    ],
    volumeMounts: [
      { name: 'agent-config', mountPath: CONFIG_DIR, readOnly: true },
      { name: 'agent-persistence', mountPath: '/var/lib/spire' },
      { name: BUNDLE_VOLUME, mountPath: BUNDLE_DIR, readOnly: true },
      { name: 'token', mountPath: TOKEN_DIR, readOnly: true },
      { name: 'agent-socket', mountPath: spec.socketPath },
      ...(kubeletCA ? [{ name: 'kubelet-ca', mountPath: kubeletCA.folder, readOnly: true }] : []),
    ],
  };
}
