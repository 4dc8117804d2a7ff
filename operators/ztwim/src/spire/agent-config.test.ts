import { describe, expect, it } from 'vitest';
import { type AgentSpec, type Overrides, sampleAgent } from '../testing/sample-inputs.test-support.ts';
import { AGENT_VARIANTS } from '../testing/variants.test-support.ts';
import { agentConfig } from './agent-config.ts';
import { renderFile } from './rendered-file.ts';

interface AgentFile {
  readonly agent: object;
  readonly plugins: {
    readonly WorkloadAttestor?: readonly [{ readonly k8s: { readonly plugin_data: object } }];
  };
}

function read(overrides: Overrides<AgentSpec> = {}): AgentFile {
  const { spec, values, config, isOpenShift } = sampleAgent(overrides);
  const file = renderFile(agentConfig({ spec, values, namespace: config.operandNamespace, isOpenShift }));
  return JSON.parse(file.text) as AgentFile;
}

const attestorOf = ({ plugins }: AgentFile): object | undefined => plugins.WorkloadAttestor?.[0].k8s.plugin_data;

describe('agentConfig', () => {
  it('contains the defaults', () => {
    expect(read()).toEqual({
      agent: {
        data_dir: '/var/lib/spire',
        log_format: 'text',
        log_level: 'info',
        rebootstrap_delay: '10m',
        rebootstrap_mode: 'auto',
        server_address: 'spire-server.zero-trust-workload-identity-manager',
        server_port: '443',
        socket_path: '/run/spire/agent-sockets/spire-agent.sock',
        trust_bundle_path: '/run/spire/bundle/bundle.crt',
        trust_domain: 'example.io',
      },
      health_checks: {
        bind_address: '0.0.0.0',
        bind_port: '9982',
        listener_enabled: true,
        live_path: '/live',
        ready_path: '/ready',
      },
      telemetry: { Prometheus: { host: '0.0.0.0', port: '9402' } },
      plugins: {
        KeyManager: [{ memory: { plugin_data: {} } }],
        NodeAttestor: [{ k8s_psat: { plugin_data: { cluster: 'one' } } }],
        WorkloadAttestor: [
          {
            k8s: {
              plugin_data: {
                disable_container_selectors: false,
                node_name_env: 'MY_NODE_NAME',
                skip_kubelet_verification: true,
                use_new_container_locator: true,
                verbose_container_locator_logs: false,
              },
            },
          },
        ],
      },
    });
  });

  it('contains the shared values and the settings', () => {
    const config = read({
      spec: { socketPath: '/run/other', logLevel: 'error', logFormat: 'json' },
      values: { trustDomain: 'b.io', clusterName: 'two' },
      config: { operandNamespace: 'spire' },
    });
    expect(config.agent).toMatchObject({
      log_format: 'json',
      log_level: 'error',
      server_address: 'spire-server.spire',
      socket_path: '/run/other/spire-agent.sock',
      trust_domain: 'b.io',
    });
    expect(config.plugins).toHaveProperty('NodeAttestor', [{ k8s_psat: { plugin_data: { cluster: 'two' } } }]);
  });

  it.each<[string, object]>([
    ['the defaults', { skip_kubelet_verification: true }],
    [
      'the defaults on OpenShift',
      { skip_kubelet_verification: false, kubelet_ca_path: '/etc/kubernetes/kubelet-ca.crt' },
    ],
    ['a CA of the node', { skip_kubelet_verification: false, kubelet_ca_path: '/etc/kubernetes/pki/ca.crt' }],
    [
      'the CA of the cluster',
      {
        skip_kubelet_verification: false,
        kubelet_ca_path: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
      },
    ],
    ['no verification', { skip_kubelet_verification: true }],
  ])('verifies kubelet with %s', (variant, expected) => {
    const attestor = attestorOf(read(AGENT_VARIANTS[variant]));
    expect(attestor).toMatchObject(expected);
    expect(Object.keys(attestor ?? {}).includes('kubelet_ca_path')).toBe('kubelet_ca_path' in expected);
  });

  it('configures how containers are found', () => {
    expect(attestorOf(read(AGENT_VARIANTS['another container locator']))).toMatchObject({
      disable_container_selectors: true,
      use_new_container_locator: false,
    });
  });

  it('leaves out attestors that are off', () => {
    const { plugins } = read(AGENT_VARIANTS['no attestors']);
    expect(Object.keys(plugins)).toEqual(['KeyManager']);
  });
});
