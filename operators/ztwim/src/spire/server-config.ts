import { isOn } from '../api/flag.ts';
import type { SpireServer } from '../api/spire-server.ts';
import type { EffectiveValues } from '../resolve/hold.ts';
import { DATA_DIR, databasePath, keysPath } from './data-paths.ts';
import { federationConfig } from './federation-config.ts';
import type { IdentityHistory } from './identity-history.ts';
import { AGENT, AUDIENCE, PORTS } from './names.ts';
import { plugin } from './plugin.ts';
import { upstreamConfig } from './upstream-config.ts';

/** ServerConfigInput is what the configuration of a server follows from. */
export interface ServerConfigInput {
  readonly spec: SpireServer['spec'];
  readonly values: EffectiveValues;
  readonly namespace: string;
  readonly history: IdentityHistory;
  /** The keys of the Secret with the certificates of the database connection. Defaults to all that can be used. */
  readonly databaseTlsKeys?: readonly string[] | undefined;
}

/** serverConfig returns the content of server.conf. */
export function serverConfig(input: ServerConfigInput): object {
  const config = unescapedConfig(input);
  if (input.spec.datastore.passwordSecretRef === undefined) return config;
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, escapeDollars(value)]));
}

/**
 * With a password, the server expands variables in the whole file. Only the connection string may contain some, and the
 * user has escaped its dollars.
 */
function escapeDollars(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('$', () => '$$');
  if (Array.isArray(value)) return value.map(escapeDollars);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, key === 'connection_string' ? member : escapeDollars(member)]),
  );
}

function unescapedConfig(input: ServerConfigInput): object {
  const { spec, values, namespace } = input;
  return {
    server: {
      audit_log_enabled: false,
      bind_address: '0.0.0.0',
      bind_port: String(PORTS.server),
      ca_key_type: spec.caKeyType,
      ca_subject: caSubject(spec),
      ca_ttl: spec.caValidity,
      data_dir: DATA_DIR,
      default_jwt_svid_ttl: spec.defaultJWTValidity,
      default_x509_svid_ttl: spec.defaultX509Validity,
      federation: spec.federation && federationConfig(spec.federation),
      jwt_issuer: values.jwtIssuer,
      jwt_key_type: spec.jwtKeyType,
      log_format: spec.logFormat,
      log_level: spec.logLevel,
      trust_domain: values.trustDomain,
    },
    health_checks: {
      bind_address: '0.0.0.0',
      bind_port: String(PORTS.serverHealth),
      listener_enabled: true,
      live_path: '/live',
      ready_path: '/ready',
    },
    telemetry: { Prometheus: { host: '0.0.0.0', port: String(PORTS.metrics) } },
    plugins: {
      DataStore: plugin('sql', databaseConfig(input)),
      KeyManager: isOn(spec.keyManager.diskEnabled)
        ? plugin('disk', { keys_path: keysPath(values, input.history) })
        : plugin('memory', {}),
      NodeAttestor: plugin('k8s_psat', { clusters: [{ [values.clusterName]: attestedCluster(namespace) }] }),
      UpstreamAuthority: upstreamConfig(spec, namespace),
      Notifier: plugin('k8sbundle', { config_map: values.bundleConfigMap, namespace }),
    },
  };
}

/** An empty subject is left out, because the server warns about one; so are empty parts, which would be part of it. */
function caSubject({ caSubject: { commonName, country, organization } }: SpireServer['spec']): object | undefined {
  if (!commonName && !country && !organization) return undefined;
  const list = (text: string | undefined): readonly string[] | undefined => (text ? [text] : undefined);
  return [{ common_name: commonName || undefined, country: list(country), organization: list(organization) }];
}

/** DATABASE_TLS_DIR is the folder of the certificates of the database connection. Existing connection strings name it. */
export const DATABASE_TLS_DIR = '/run/spire/db/certs';

/** DATABASE_TLS_KEYS are the keys that a Secret with the certificates of a database connection may have. */
export const DATABASE_TLS_KEYS = { ca: 'ca.crt', certificate: 'tls.crt', key: 'tls.key' } as const;

/** isMysql reports whether a type of database is one of MySQL. */
export function isMysql(type: SpireServer['spec']['datastore']['databaseType']): boolean {
  return type === 'mysql' || type === 'aws_mysql';
}

/** PostgreSQL's client finds the files in the connection string, but MySQL's only here. */
function mysqlTls({ spec: { datastore }, databaseTlsKeys }: ServerConfigInput): object {
  if (!isMysql(datastore.databaseType) || datastore.tlsSecretName === undefined) return {};
  const { ca, certificate, key } = DATABASE_TLS_KEYS;
  const keys = databaseTlsKeys ?? Object.values(DATABASE_TLS_KEYS);
  const hasClient = keys.includes(certificate) && keys.includes(key);
  return {
    root_ca_path: keys.includes(ca) ? `${DATABASE_TLS_DIR}/${ca}` : undefined,
    client_cert_path: hasClient ? `${DATABASE_TLS_DIR}/${certificate}` : undefined,
    client_key_path: hasClient ? `${DATABASE_TLS_DIR}/${key}` : undefined,
  };
}

function databaseConfig(input: ServerConfigInput): object {
  const { datastore } = input.spec;
  const { databaseType, connectionString, maxOpenConns, maxIdleConns, connMaxLifetime, disableMigration, aws } =
    datastore;
  return {
    database_type: aws ? { [databaseType]: { region: aws.region } } : databaseType,
    connection_string:
      databaseType === 'sqlite3' ? databasePath(connectionString, input.values, input.history) : connectionString,
    max_open_conns: maxOpenConns,
    max_idle_conns: maxIdleConns,
    conn_max_lifetime: connMaxLifetime === undefined ? undefined : `${connMaxLifetime}s`,
    disable_migration: isOn(disableMigration),
    ...mysqlTls(input),
  };
}

function attestedCluster(namespace: string): object {
  return {
    allowed_node_label_keys: [],
    allowed_pod_label_keys: [],
    audience: [AUDIENCE],
    service_account_allow_list: [`${namespace}:${AGENT}`],
  };
}
