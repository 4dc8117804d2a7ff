import { isOn } from '../api/flag.ts';
import type { SpireAgent } from '../api/spire-agent.ts';
import { AGENT_SOCKET, BUNDLE_KEY, PORTS, SERVER } from './names.ts';
import { plugin } from './plugin.ts';

/** BUNDLE_DIR is the folder of the trust bundle in the pods of the agent. */
export const BUNDLE_DIR = '/run/spire/bundle';

/** NODE_NAME_VARIABLE is the environment variable with the address or name under which the agent reaches kubelet. */
export const NODE_NAME_VARIABLE = 'MY_NODE_NAME';

/** KubeletVerification is how the agent verifies the certificate of kubelet. */
export type KubeletVerification =
  | { readonly type: 'skip' }
  | { readonly type: 'file'; readonly folder: string; readonly file: string }
  | { readonly type: 'apiServerCA' };

/** AgentConfigInput is what the configuration of the agents follows from. */
export interface AgentConfigInput {
  readonly spec: SpireAgent['spec'];
  readonly values: { readonly trustDomain: string; readonly clusterName: string };
  readonly namespace: string;
  readonly isOpenShift: boolean;
}

const SERVICE_ACCOUNT_CA = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt';

/** agentConfig returns the content of agent.conf. */
export function agentConfig(input: AgentConfigInput): object {
  const { spec, values, namespace } = input;
  return {
    agent: {
      data_dir: '/var/lib/spire',
      log_format: spec.logFormat,
      log_level: spec.logLevel,
      // After the trust domain changed, an agent cannot continue with what it has.
      rebootstrap_delay: '10m',
      rebootstrap_mode: 'auto',
      server_address: `${SERVER}.${namespace}`,
      server_port: '443',
      socket_path: `${spec.socketPath}/${AGENT_SOCKET}`,
      trust_bundle_path: `${BUNDLE_DIR}/${BUNDLE_KEY}`,
      trust_domain: values.trustDomain,
    },
    health_checks: {
      bind_address: '0.0.0.0',
      bind_port: String(PORTS.agentHealth),
      listener_enabled: true,
      live_path: '/live',
      ready_path: '/ready',
    },
    telemetry: { Prometheus: { host: '0.0.0.0', port: String(PORTS.metrics) } },
    plugins: {
      KeyManager: plugin('memory', {}),
      NodeAttestor: isOn(spec.nodeAttestor.k8sPSATEnabled)
        ? plugin('k8s_psat', { cluster: values.clusterName })
        : undefined,
      WorkloadAttestor: isOn(spec.workloadAttestors.k8sEnabled) ? plugin('k8s', workloadAttestor(input)) : undefined,
    },
  };
}

function workloadAttestor(input: AgentConfigInput): object {
  const { disableContainerSelectors, useNewContainerLocator } = input.spec.workloadAttestors;
  const verification = kubeletVerification(input);
  return {
    disable_container_selectors: isOn(disableContainerSelectors),
    kubelet_ca_path: caPath(verification),
    node_name_env: NODE_NAME_VARIABLE,
    skip_kubelet_verification: verification.type === 'skip',
    use_new_container_locator: isOn(useNewContainerLocator),
    verbose_container_locator_logs: false,
  };
}

function caPath(verification: KubeletVerification): string | undefined {
  switch (verification.type) {
    case 'skip':
      return undefined;
    case 'file':
      return `${verification.folder}/${verification.file}`;
    case 'apiServerCA':
      return SERVICE_ACCOUNT_CA;
  }
}

/**
 * kubeletVerification returns how kubelet is verified. By default only on OpenShift: the certificates of kubelet that
 * kubeadm, kind and AKS create are signed by nobody.
 */
export function kubeletVerification({
  spec,
  isOpenShift,
}: Pick<AgentConfigInput, 'spec' | 'isOpenShift'>): KubeletVerification {
  const { type, hostCertBasePath = '', hostCertFileName = '' } = spec.workloadAttestors.workloadAttestorsVerification;
  switch (type) {
    case 'auto':
      return isOpenShift ? { type: 'file', folder: '/etc/kubernetes', file: 'kubelet-ca.crt' } : { type: 'skip' };
    case 'hostCert':
      return { type: 'file', folder: hostCertBasePath, file: hostCertFileName };
    case 'apiServerCA':
      return { type: 'apiServerCA' };
    case 'skip':
      return { type: 'skip' };
  }
}
