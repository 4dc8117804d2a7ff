/** SampleNames holds the names that the sample configurations agree on. */
export interface SampleNames {
  readonly trustDomain: string;
  readonly clusterName: string;
  readonly namespace: string;
  readonly bundle: string;
  readonly issuer: string;
}

/** The class of the kinds that the sample controller manager handles. */
export const CLASS_NAME = 'sample';

/** sampleServer returns a `server.conf` as it is mounted into a pod. */
export function sampleServer({ trustDomain, clusterName, namespace, bundle, issuer }: SampleNames): string {
  return JSON.stringify({
    health_checks: healthChecks('8080'),
    plugins: {
      DataStore: [
        { sql: { plugin_data: { connection_string: '/run/spire/data/datastore.sqlite3', database_type: 'sqlite3' } } },
      ],
      KeyManager: [{ disk: { plugin_data: { keys_path: '/run/spire/data/keys.json' } } }],
      NodeAttestor: [
        {
          k8s_psat: {
            plugin_data: {
              clusters: [
                {
                  [clusterName]: {
                    allowed_node_label_keys: [],
                    allowed_pod_label_keys: [],
                    audience: ['spire-server'],
                    service_account_allow_list: [`${namespace}:spire-agent`],
                  },
                },
              ],
            },
          },
        },
      ],
      Notifier: [{ k8sbundle: { plugin_data: { config_map: bundle, namespace } } }],
    },
    server: {
      audit_log_enabled: false,
      bind_address: '0.0.0.0',
      bind_port: '8081',
      ca_key_type: 'rsa-2048',
      ca_subject: [{ common_name: 'sample', country: ['US'], organization: ['sample'] }],
      ca_ttl: '24h',
      data_dir: '/run/spire/data',
      default_jwt_svid_ttl: '5m',
      default_x509_svid_ttl: '1h',
      jwt_issuer: issuer,
      log_level: 'debug',
      trust_domain: trustDomain,
    },
    telemetry: { Prometheus: { host: '0.0.0.0', port: '9402' } },
  });
}

/** sampleAgent returns an `agent.conf` as it is mounted into a pod. */
export function sampleAgent({ trustDomain, clusterName, namespace }: SampleNames): string {
  return JSON.stringify({
    agent: {
      data_dir: '/var/lib/spire',
      log_level: 'debug',
      rebootstrap_delay: '10m',
      rebootstrap_mode: 'auto',
      server_address: `spire-server.${namespace}`,
      server_port: '443',
      socket_path: '/run/spire/agent-sockets/spire-agent.sock',
      trust_bundle_path: '/run/spire/bundle/bundle.crt',
      trust_domain: trustDomain,
    },
    health_checks: healthChecks('9982'),
    plugins: {
      KeyManager: [{ memory: { plugin_data: {} } }],
      NodeAttestor: [{ k8s_psat: { plugin_data: { cluster: clusterName } } }],
      WorkloadAttestor: [{ k8s: { plugin_data: { node_name_env: 'MY_NODE_NAME', skip_kubelet_verification: true } } }],
    },
    telemetry: { Prometheus: { host: '0.0.0.0', port: '9402' } },
  });
}

/** sampleControllerManager returns a `controller-manager-config.yaml` as it is mounted into a pod. */
export function sampleControllerManager({ trustDomain, clusterName, namespace }: SampleNames): string {
  return JSON.stringify({
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ControllerManagerConfig',
    className: CLASS_NAME,
    clusterDomain: 'cluster.local',
    clusterName,
    entryIDPrefix: clusterName,
    health: { healthProbeBindAddress: '0.0.0.0:8083' },
    ignoreNamespaces: ['^kube-system$'],
    leaderElection: {
      leaderElect: true,
      resourceName: 'spire-controller-manager-leader-election',
      resourceNamespace: namespace,
    },
    metrics: { bindAddress: '0.0.0.0:8082' },
    parentIDTemplate: 'spiffe://{{ .TrustDomain }}/spire/agent/k8s_psat/{{ .ClusterName }}/{{ .NodeMeta.UID }}',
    reconcile: { clusterFederatedTrustDomains: true, clusterSPIFFEIDs: true, clusterStaticEntries: true },
    spireServerSocketPath: '/tmp/spire-server/private/api.sock',
    trustDomain,
    validatingWebhookConfigurationName: 'spire-controller-manager-webhook',
    watchClassless: false,
  });
}

/** sampleOidc returns an `oidc-discovery-provider.conf` as it is mounted into a pod. */
export function sampleOidc({ trustDomain, issuer }: SampleNames): string {
  return JSON.stringify({
    domains: [new URL(issuer).hostname],
    health_checks: { bind_port: '8008', live_path: '/live', ready_path: '/ready' },
    jwt_issuer: issuer,
    log_level: 'debug',
    serving_cert_file: {
      addr: ':8443',
      cert_file_path: '/etc/oidc/tls/tls.crt',
      key_file_path: '/etc/oidc/tls/tls.key',
    },
    workload_api: { socket_path: '/spiffe-workload-api/spire-agent.sock', trust_domain: trustDomain },
  });
}

function healthChecks(port: string): object {
  return {
    bind_address: '0.0.0.0',
    bind_port: port,
    listener_enabled: true,
    live_path: '/live',
    ready_path: '/ready',
  };
}
