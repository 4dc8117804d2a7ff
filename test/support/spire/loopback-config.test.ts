import { describe, expect, it } from 'vitest';
import { agentOnLoopback, controllerManagerOnLoopback, oidcOnLoopback, serverOnLoopback } from './loopback-config.ts';
import { sampleAgent, sampleControllerManager, sampleOidc, sampleServer } from './sample-configs.ts';

const names = {
  trustDomain: 'example.org',
  clusterName: 'sample',
  namespace: 'spire',
  bundle: 'spire-bundle',
  issuer: 'https://oidc.example.org',
};
const ports = {
  apiPort: 1,
  serverPort: 1,
  healthPort: 2,
  metricsPort: 3,
  federationPort: 4,
  port: 5,
};

/** changes returns the paths of the values that differ, with the new values. */
function changes(before: unknown, after: unknown, path = ''): Readonly<Record<string, unknown>> {
  if (JSON.stringify(before) === JSON.stringify(after)) return {};
  if (typeof before !== 'object' || typeof after !== 'object') return { [path]: after };
  const [left, right] = [Object(before), Object(after)] as [Record<string, unknown>, Record<string, unknown>];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Object.assign({}, ...[...keys].map((key) => changes(left[key], right[key], path ? `${path}.${key}` : key)));
}

describe('a rendered configuration on loopback', () => {
  const server = { dataFolder: '/f/server', socket: '/f/s.sock', kubeconfig: '/f/kubeconfig', ...ports };

  it('changes only paths, addresses and credentials of the server', () => {
    const before = sampleServer(names);
    expect(changes(JSON.parse(before), JSON.parse(serverOnLoopback(before, server)))).toEqual({
      'server.bind_address': '127.0.0.1',
      'server.bind_port': '1',
      'server.data_dir': '/f/server',
      'server.socket_path': '/f/s.sock',
      'health_checks.bind_address': '127.0.0.1',
      'health_checks.bind_port': '2',
      'telemetry.Prometheus.host': '127.0.0.1',
      'telemetry.Prometheus.port': '3',
      'plugins.DataStore.0.sql.plugin_data.connection_string': '/f/server/datastore.sqlite3',
      'plugins.KeyManager.0.disk.plugin_data.keys_path': '/f/server/keys.json',
      'plugins.NodeAttestor.0.k8s_psat.plugin_data.clusters.0.sample.kube_config_file': '/f/kubeconfig',
      'plugins.Notifier.0.k8sbundle.plugin_data.kube_config_file_path': '/f/kubeconfig',
    });
  });

  it('changes only paths, addresses and the attestation of workloads of the agent', () => {
    const place = { dataFolder: '/f/agent', socket: '/f/a.sock', bundle: '/f/bundle.crt', token: '/f/token', ...ports };
    const before = sampleAgent(names);
    const after = changes(JSON.parse(before), JSON.parse(agentOnLoopback(before, place)));
    expect(Object.keys(after).filter((key) => !key.startsWith('plugins.WorkloadAttestor'))).toEqual([
      'agent.data_dir',
      'agent.server_address',
      'agent.server_port',
      'agent.socket_path',
      'agent.trust_bundle_path',
      'health_checks.bind_address',
      'health_checks.bind_port',
      'plugins.NodeAttestor.0.k8s_psat.plugin_data.token_path',
      'telemetry.Prometheus.host',
      'telemetry.Prometheus.port',
    ]);
  });

  it('changes only paths and ports of the controller manager and the discovery provider', () => {
    const manager = sampleControllerManager(names);
    const placed = controllerManagerOnLoopback(manager, { serverSocket: '/f/s.sock', ...ports });
    expect(changes(JSON.parse(manager), JSON.parse(placed))).toEqual({
      'health.healthProbeBindAddress': '127.0.0.1:2',
      'metrics.bindAddress': '127.0.0.1:3',
      spireServerSocketPath: '/f/s.sock',
    });
    const oidc = sampleOidc(names);
    const provider = oidcOnLoopback(oidc, { agentSocket: '/f/a.sock', certificate: '/f/crt', key: '/f/key', ...ports });
    expect(changes(JSON.parse(oidc), JSON.parse(provider))).toEqual({
      'health_checks.bind_port': '2',
      'serving_cert_file.addr': '127.0.0.1:5',
      'serving_cert_file.cert_file_path': '/f/crt',
      'serving_cert_file.key_file_path': '/f/key',
      'workload_api.socket_path': '/f/a.sock',
    });
  });

  it('fails when a section that it changes is missing', () => {
    const { plugins: _, ...others } = JSON.parse(sampleServer(names)) as Record<string, unknown>;
    expect(() => serverOnLoopback(JSON.stringify(others), server)).toThrow('plugins is not an object');
  });
});
