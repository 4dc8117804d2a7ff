import type { GeneratedInputs } from '../../../operators/ztwim/src/testing/generated-inputs.test-support.ts';
import type {
  AgentSpec,
  OidcSpec,
  ServerSpec,
} from '../../../operators/ztwim/src/testing/sample-inputs.test-support.ts';

/** Placement is a value that a rendered file must have in a place; undefined means that it must not have any. */
export interface Placement {
  readonly file: 'server.conf' | 'agent.conf' | 'controller-manager-config.yaml' | 'oidc-discovery-provider.conf';
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

const DEFAULT_NAMESPACE = 'zero-trust-workload-identity-manager';

/**
 * placementsOf returns where the values of the specs have to be in the rendered files. It is written from the
 * documentation of SPIRE and knows nothing of the renderers.
 */
export function placementsOf(inputs: GeneratedInputs): readonly Placement[] {
  return [
    ...serverPlacements(inputs),
    ...managerPlacements(inputs),
    ...agentPlacements(inputs),
    ...oidcPlacements(inputs),
  ];
}

function valuesOf({ server }: GeneratedInputs) {
  const { trustDomain = '', clusterName = '', bundleConfigMap = '', jwtIssuer = '' } = server.values ?? {};
  return { trustDomain, clusterName, bundleConfigMap, jwtIssuer };
}

function namespaceOf({ server }: GeneratedInputs): string {
  return server.config?.operandNamespace ?? DEFAULT_NAMESPACE;
}

function serverPlacements(inputs: GeneratedInputs): readonly Placement[] {
  const spec: ServerSpec = inputs.server.spec ?? {};
  const { trustDomain, clusterName, bundleConfigMap, jwtIssuer } = valuesOf(inputs);
  const data: NonNullable<ServerSpec['datastore']> = spec.datastore ?? {};
  // With a password, the server expands variables in the file.
  const text = (value: string | undefined): string | undefined =>
    data.passwordSecretRef === undefined ? value : value?.split('$').join('$$');
  const subject: NonNullable<ServerSpec['caSubject']> = spec.caSubject ?? {};
  const isSqlite = (data.databaseType ?? 'sqlite3') === 'sqlite3';
  const isFirst = inputs.server.history === undefined || inputs.server.history.trustDomain.first === trustDomain;
  const suffix = isFirst ? '' : `-${trustDomain}`;
  const isDisk = spec.keyManager?.diskEnabled !== 'false';
  const at = (path: readonly (string | number)[], value: unknown): Placement => ({ file: 'server.conf', path, value });
  const store = (name: string) => ['plugins', 'DataStore', 0, 'sql', 'plugin_data', name];
  const lifetime = data.connMaxLifetime;
  return [
    at(['server', 'trust_domain'], trustDomain),
    at(['server', 'jwt_issuer'], text(jwtIssuer)),
    at(['server', 'ca_ttl'], spec.caValidity ?? '24h'),
    at(['server', 'default_x509_svid_ttl'], spec.defaultX509Validity ?? '1h'),
    at(['server', 'default_jwt_svid_ttl'], spec.defaultJWTValidity ?? '5m'),
    at(['server', 'ca_key_type'], spec.caKeyType ?? 'rsa-2048'),
    at(['server', 'jwt_key_type'], spec.jwtKeyType),
    at(['server', 'log_level'], spec.logLevel ?? 'info'),
    at(['server', 'log_format'], spec.logFormat ?? 'text'),
    at(['server', 'ca_subject', 0, 'common_name'], text(subject.commonName || undefined)),
    at(['server', 'ca_subject', 0, 'country', 0], subject.country || undefined),
    at(['server', 'ca_subject', 0, 'organization', 0], text(subject.organization || undefined)),
    at(
      store('database_type'),
      data.aws ? { [data.databaseType ?? '']: { region: data.aws.region } } : (data.databaseType ?? 'sqlite3'),
    ),
    ...upstreamPlacements(spec, namespaceOf(inputs), at),
    at(store('connection_string'), isSqlite ? `/run/spire/data/datastore${suffix}.sqlite3` : data.connectionString),
    at(store('max_open_conns'), data.maxOpenConns ?? 100),
    at(store('max_idle_conns'), data.maxIdleConns ?? 2),
    at(store('conn_max_lifetime'), lifetime === undefined ? undefined : `${lifetime}s`),
    at(store('disable_migration'), data.disableMigration === 'true'),
    at(
      ['plugins', 'KeyManager', 0],
      isDisk
        ? { disk: { plugin_data: { keys_path: `/run/spire/data/keys${suffix}.json` } } }
        : { memory: { plugin_data: {} } },
    ),
    at(
      [
        'plugins',
        'NodeAttestor',
        0,
        'k8s_psat',
        'plugin_data',
        'clusters',
        0,
        clusterName,
        'service_account_allow_list',
      ],
      [`${namespaceOf(inputs)}:spire-agent`],
    ),
    at(['plugins', 'Notifier', 0, 'k8sbundle', 'plugin_data'], {
      config_map: bundleConfigMap,
      namespace: namespaceOf(inputs),
    }),
    ...federationPlacements(spec, at, text),
  ];
}

function upstreamPlacements(
  { upstreamAuthority: { vault, certManager } = {} }: ServerSpec,
  namespace: string,
  at: (path: readonly (string | number)[], value: unknown) => Placement,
): readonly Placement[] {
  const plugins = ['plugins', 'UpstreamAuthority'];
  const of = (name: string, field: string) => [...plugins, 0, name, 'plugin_data', field];
  if (vault) {
    const { address, namespace: vaultNamespace, pkiMountPoint = 'pki', caSecretRef, kubernetesAuth } = vault;
    return [
      at(of('vault', 'vault_addr'), address),
      at(of('vault', 'namespace'), vaultNamespace),
      at(of('vault', 'pki_mount_point'), pkiMountPoint),
      at(of('vault', 'ca_cert_path'), caSecretRef && `/run/spire/vault-ca/${caSecretRef.key ?? 'ca.crt'}`),
      at([...of('vault', 'k8s_auth'), 'k8s_auth_mount_point'], kubernetesAuth.mountPoint ?? 'kubernetes'),
      at([...of('vault', 'k8s_auth'), 'k8s_auth_role_name'], kubernetesAuth.role),
    ];
  }
  if (!certManager) return [at(plugins, undefined)];
  return [
    at(of('cert-manager', 'issuer_name'), certManager.issuerName),
    at(of('cert-manager', 'issuer_kind'), certManager.issuerKind ?? 'Issuer'),
    at(of('cert-manager', 'issuer_group'), certManager.issuerGroup ?? 'cert-manager.io'),
    at(of('cert-manager', 'namespace'), namespace),
  ];
}

function federationPlacements(
  spec: ServerSpec,
  at: (path: readonly (string | number)[], value: unknown) => Placement,
  text: (value: string | undefined) => string | undefined,
): readonly Placement[] {
  const { federation } = spec;
  if (federation === undefined) return [at(['server', 'federation'], undefined)];
  type Endpoint = NonNullable<typeof federation.bundleEndpoint>;
  const endpoint: Endpoint = federation.bundleEndpoint ?? {};
  const web: NonNullable<Endpoint['httpsWeb']> = endpoint.profile === 'https_web' ? (endpoint.httpsWeb ?? {}) : {};
  const of = (...path: readonly (string | number)[]) => ['server', 'federation', ...path];
  const profile = (...path: readonly string[]) => of('bundle_endpoint', 'profile', 0, ...path);
  const interval = web.servingCert?.fileSyncInterval ?? 86_400;
  return [
    at(of('bundle_endpoint', 'refresh_hint'), `${endpoint.refreshHint ?? 300}s`),
    ...(web.acme
      ? [
          at(profile('https_web', 'acme', 'directory_url'), text(web.acme.directoryUrl)),
          at(profile('https_web', 'acme', 'tos_accepted'), true),
        ]
      : []),
    ...(web.servingCert ? [at(profile('https_web', 'serving_cert_file', 'file_sync_interval'), `${interval}s`)] : []),
    ...(endpoint.profile === 'https_web' ? [] : [at(profile('https_spiffe'), {})]),
    ...(federation.federatesWith ?? []).flatMap((peer) => [
      at(of('federates_with', peer.trustDomain, 'bundle_endpoint_url'), peer.bundleEndpointUrl),
      at(
        of('federates_with', peer.trustDomain, 'bundle_endpoint_profile', 0),
        peer.bundleEndpointProfile === 'https_web'
          ? { https_web: {} }
          : { https_spiffe: { endpoint_spiffe_id: peer.endpointSpiffeId } },
      ),
    ]),
  ];
}

function managerPlacements(inputs: GeneratedInputs): readonly Placement[] {
  const { trustDomain, clusterName } = valuesOf(inputs);
  const previous = inputs.server.history?.clusterName.previous;
  const at = (name: string, value: unknown): Placement => ({
    file: 'controller-manager-config.yaml',
    path: [name],
    value,
  });
  return [
    at('trustDomain', trustDomain),
    at('clusterName', clusterName),
    at('entryIDPrefix', clusterName),
    at('entryIDPrefixCleanup', previous === clusterName ? undefined : previous),
    at('className', 'zero-trust-workload-identity-manager-spire'),
  ];
}

function agentPlacements(inputs: GeneratedInputs): readonly Placement[] {
  const spec: AgentSpec = inputs.agent.spec ?? {};
  const { trustDomain, clusterName } = valuesOf(inputs);
  const at = (path: readonly (string | number)[], value: unknown): Placement => ({ file: 'agent.conf', path, value });
  const attestors: NonNullable<AgentSpec['workloadAttestors']> = spec.workloadAttestors ?? {};
  const verification: NonNullable<typeof attestors.workloadAttestorsVerification> =
    attestors.workloadAttestorsVerification ?? {};
  const workload = (name: string) => ['plugins', 'WorkloadAttestor', 0, 'k8s', 'plugin_data', name];
  const isOpenShift = inputs.agent.isOpenShift ?? false;
  const authorities: Readonly<Record<string, string | undefined>> = {
    auto: isOpenShift ? '/etc/kubernetes/kubelet-ca.crt' : undefined,
    skip: undefined,
    apiServerCA: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
    hostCert: `${verification.hostCertBasePath}/${verification.hostCertFileName}`,
  };
  const authority = authorities[verification.type ?? 'auto'];
  return [
    at(['agent', 'trust_domain'], trustDomain),
    at(['agent', 'server_address'], `spire-server.${namespaceOf(inputs)}`),
    at(['agent', 'socket_path'], `${spec.socketPath ?? '/run/spire/agent-sockets'}/spire-agent.sock`),
    at(['agent', 'log_level'], spec.logLevel ?? 'info'),
    at(['agent', 'log_format'], spec.logFormat ?? 'text'),
    at(
      ['plugins', 'NodeAttestor'],
      spec.nodeAttestor?.k8sPSATEnabled === 'false'
        ? undefined
        : [{ k8s_psat: { plugin_data: { cluster: clusterName } } }],
    ),
    ...(attestors.k8sEnabled === 'false'
      ? [at(['plugins', 'WorkloadAttestor'], undefined)]
      : [
          at(workload('disable_container_selectors'), attestors.disableContainerSelectors === 'true'),
          at(workload('use_new_container_locator'), attestors.useNewContainerLocator !== 'false'),
          at(workload('kubelet_ca_path'), authority),
          at(workload('skip_kubelet_verification'), authority === undefined),
        ]),
  ];
}

function oidcPlacements(inputs: GeneratedInputs): readonly Placement[] {
  const spec: OidcSpec = inputs.oidc.spec ?? {};
  const { trustDomain, jwtIssuer } = valuesOf(inputs);
  const at = (path: readonly (string | number)[], value: unknown): Placement => ({
    file: 'oidc-discovery-provider.conf',
    path,
    value,
  });
  const [, host = '', folder] = /^https:\/\/([^/]+)(\/.*)?$/.exec(jwtIssuer) ?? [];
  const name = 'spire-spiffe-oidc-discovery-provider';
  const service = `${name}.${namespaceOf(inputs)}`;
  const further = [...(spec.additionalDomains ?? [])].sort();
  const domains = [name, service, `${service}.svc`, `${service}.svc.cluster.local`, host, ...further];
  return [
    at(['jwt_issuer'], jwtIssuer),
    at(['workload_api', 'trust_domain'], trustDomain),
    at(['log_level'], spec.logLevel ?? 'info'),
    at(['log_format'], spec.logFormat ?? 'text'),
    at(['server_path_prefix'], folder),
    at(['domains'], [...new Set(domains)]),
  ];
}
