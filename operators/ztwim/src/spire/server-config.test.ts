import { describe, expect, it } from 'vitest';
import { type ServerOverrides, type ServerSpec, sampleServer } from '../testing/sample-inputs.test-support.ts';
import { SERVER_VARIANTS } from '../testing/variants.test-support.ts';
import { renderFile } from './rendered-file.ts';
import { serverConfig } from './server-config.ts';

/** Returns the configuration as the server reads it: without members that are undefined. */
function read(overrides: ServerOverrides = {}): { server: object; plugins: object } {
  const input = sampleServer(overrides);
  const config = serverConfig({ ...input, namespace: input.config.operandNamespace });
  return JSON.parse(renderFile(config).text) as { server: object; plugins: object };
}

const pluginOf = (name: string, data: object): object => [{ [name]: { plugin_data: data } }];

describe('serverConfig', () => {
  it('contains the defaults', () => {
    expect(read()).toEqual({
      server: {
        audit_log_enabled: false,
        bind_address: '0.0.0.0',
        bind_port: '8081',
        ca_key_type: 'rsa-2048',
        ca_ttl: '24h',
        data_dir: '/run/spire/data',
        default_jwt_svid_ttl: '5m',
        default_x509_svid_ttl: '1h',
        jwt_issuer: 'https://oidc.example.io',
        log_format: 'text',
        log_level: 'info',
        trust_domain: 'example.io',
      },
      health_checks: {
        bind_address: '0.0.0.0',
        bind_port: '8080',
        listener_enabled: true,
        live_path: '/live',
        ready_path: '/ready',
      },
      telemetry: { Prometheus: { host: '0.0.0.0', port: '9402' } },
      plugins: {
        DataStore: pluginOf('sql', {
          database_type: 'sqlite3',
          connection_string: '/run/spire/data/datastore.sqlite3',
          max_open_conns: 100,
          max_idle_conns: 2,
          disable_migration: false,
        }),
        KeyManager: pluginOf('disk', { keys_path: '/run/spire/data/keys.json' }),
        NodeAttestor: pluginOf('k8s_psat', {
          clusters: [
            {
              one: {
                allowed_node_label_keys: [],
                allowed_pod_label_keys: [],
                audience: ['spire-server'],
                service_account_allow_list: ['zero-trust-workload-identity-manager:spire-agent'],
              },
            },
          ],
        }),
        Notifier: pluginOf('k8sbundle', {
          config_map: 'spire-bundle',
          namespace: 'zero-trust-workload-identity-manager',
        }),
      },
    });
  });

  it.each<[string, ServerSpec, object]>([
    ['the log', { logLevel: 'debug', logFormat: 'json' }, { log_level: 'debug', log_format: 'json' }],
    [
      'the validities',
      { caValidity: '48h', defaultX509Validity: '2h', defaultJWTValidity: '10m' },
      { ca_ttl: '48h', default_x509_svid_ttl: '2h', default_jwt_svid_ttl: '10m' },
    ],
    [
      'the key types',
      { caKeyType: 'ec-p384', jwtKeyType: 'rsa-4096' },
      { ca_key_type: 'ec-p384', jwt_key_type: 'rsa-4096' },
    ],
    [
      'the subject',
      { caSubject: { country: 'CZ', organization: 'Org', commonName: 'ca' } },
      { ca_subject: [{ common_name: 'ca', country: ['CZ'], organization: ['Org'] }] },
    ],
  ])('contains %s', (_, spec, expected) => {
    expect(read({ spec }).server).toMatchObject(expected);
  });

  it('contains the shared values', () => {
    const values = { trustDomain: 'b.io', clusterName: 'two', bundleConfigMap: 'b', jwtIssuer: 'https://b.io' };
    const config = read({ values, config: { operandNamespace: 'spire' } });
    expect(config.server).toMatchObject({ trust_domain: 'b.io', jwt_issuer: 'https://b.io' });
    expect(config.plugins).toMatchObject({
      NodeAttestor: pluginOf('k8s_psat', {
        clusters: [{ two: { service_account_allow_list: ['spire:spire-agent'] } }],
      }),
      Notifier: pluginOf('k8sbundle', { config_map: 'b', namespace: 'spire' }),
    });
  });

  it('leaves out the empty parts of a subject', () => {
    const { server } = read({ spec: { caSubject: { country: '', organization: 'Org', commonName: '' } } });
    expect(server).toHaveProperty('ca_subject', [{ organization: ['Org'] }]);
  });

  it.each<[string, ServerSpec]>([
    ['is absent', {}],
    ['has only empty parts', { caSubject: { country: '', organization: '', commonName: '' } }],
  ])('leaves out a subject that %s', (_, spec) => {
    expect(read({ spec }).server).not.toHaveProperty('ca_subject');
  });

  it('keeps keys in memory if configured so', () => {
    const { plugins } = read(SERVER_VARIANTS['keys in memory']);
    expect(plugins).toHaveProperty('KeyManager', pluginOf('memory', {}));
  });

  it.each<[string, object]>([
    [
      'several servers with PostgreSQL',
      {
        database_type: 'postgres',
        connection_string: 'dbname=spire user=spire host=db sslmode=verify-full sslrootcert=/run/spire/db/certs/ca.crt',
        max_open_conns: 7,
        max_idle_conns: 0,
        conn_max_lifetime: '60s',
        disable_migration: true,
      },
    ],
    [
      'MySQL with a password',
      {
        database_type: 'mysql',
        connection_string: 'spire:$' + '{SPIRE_DB_PASSWORD}@tcp(db:3306)/spire?parseTime=true',
        max_open_conns: 100,
        max_idle_conns: 2,
        disable_migration: false,
      },
    ],
    [
      'PostgreSQL of AWS with credentials',
      {
        database_type: { aws_postgres: { region: 'eu-central-1' } },
        connection_string: 'dbname=spire user=spire host=db.example.io port=5432 sslmode=require',
        max_open_conns: 100,
        max_idle_conns: 2,
        disable_migration: false,
      },
    ],
    [
      'MySQL of AWS',
      {
        database_type: { aws_mysql: { region: 'us-east-2' } },
        connection_string: 'spire:@tcp(db.example.io:3306)/spire?parseTime=true&allowCleartextPasswords=1&tls=true',
        max_open_conns: 100,
        max_idle_conns: 2,
        disable_migration: false,
      },
    ],
  ])('configures the database for %s', (variant, expected) => {
    expect(read(SERVER_VARIANTS[variant]).plugins).toHaveProperty('DataStore', pluginOf('sql', expected));
  });

  it.each<[string, string]>([
    ['MySQL with a password', 'A $$ORG'],
    ['a complete subject', 'A "quoted" $ORG'],
  ])('escapes dollars outside of the connection string only if variables are expanded: %s', (variant, organization) => {
    expect(read(SERVER_VARIANTS[variant]).server).toMatchObject({ ca_subject: [{ organization: [organization] }] });
  });

  it('uses files of its own for another trust domain than the first', () => {
    const { plugins } = read(SERVER_VARIANTS['a SQLite database with options']);
    expect(plugins).toMatchObject({
      DataStore: pluginOf('sql', {
        connection_string: 'file:/run/spire/data/d-example.io.sqlite3?_busy_timeout=100',
      }),
      KeyManager: pluginOf('disk', { keys_path: '/run/spire/data/keys-example.io.json' }),
    });
  });

  it('does not change the connection string of another database with the trust domain', () => {
    const { history } = SERVER_VARIANTS['a changed identity'] ?? {};
    const { plugins } = read({ ...SERVER_VARIANTS['several servers with PostgreSQL'], history });
    expect(JSON.stringify(plugins)).toContain('host=db sslmode=verify-full');
  });

  it.each([
    [undefined, ['ca.crt', 'tls.crt', 'tls.key']],
    [['ca.crt'], ['ca.crt']],
    [
      ['tls.crt', 'tls.key', 'other'],
      ['tls.crt', 'tls.key'],
    ],
    [['ca.crt', 'tls.crt'], ['ca.crt']],
  ])('names the certificates of a MySQL connection that exist: %j', (databaseTlsKeys, files) => {
    const datastore = { databaseType: 'mysql', connectionString: 'spire@tcp(db)/spire', tlsSecretName: 'db' } as const;
    const { spec, values, history } = sampleServer({ spec: { datastore } });
    const config = serverConfig({ spec, values, history, namespace: 'spire', databaseTlsKeys });
    const text = JSON.stringify(config);
    const found = [...text.matchAll(/"(?:root_ca|client_cert|client_key)_path":"\/run\/spire\/db\/certs\/([^"]+)"/g)];
    expect(found.map(([, file]) => file)).toEqual(files);
  });

  it('leaves the certificates of a PostgreSQL connection to the connection string', () => {
    const datastore = { databaseType: 'postgres', connectionString: 'host=db', tlsSecretName: 'db' } as const;
    const { spec, values, history } = sampleServer({ spec: { datastore } });
    expect(JSON.stringify(serverConfig({ spec, values, history, namespace: 'spire' }))).not.toContain('/run/spire/db');
  });
});
