import fc from 'fast-check';
import { agentObjects } from '../agent/agent-objects.ts';
import { csiObjects } from '../csi/csi-objects.ts';
import type { Child } from '../objects/child.ts';
import { oidcObjects } from '../oidc/oidc-objects.ts';
import { serverObjects } from '../server/server-objects.ts';
import type { Externals } from './find-broken-references.test-support.ts';
import {
  type AgentSpec,
  type CsiSpec,
  type OidcSpec,
  type Overrides,
  type ServerOverrides,
  type ServerSpec,
  sampleAgent,
  sampleCsi,
  sampleOidc,
  sampleServer,
} from './sample-inputs.test-support.ts';
import { PODS } from './variants.test-support.ts';

const flag = fc.constantFrom('true', 'false');
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const domain = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
const folder = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `/node/${labels.join('/')}`);
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(of: T) => fc.record(of, { requiredKeys: [] });
const log = { logLevel: fc.constantFrom('debug', 'info', 'warn', 'error'), logFormat: fc.constantFrom('text', 'json') };

const shared = {
  labels: fc.dictionary(fc.oneof(label, fc.constant('app.kubernetes.io/name')), label, { maxKeys: 3 }),
  resources: fc.constant(PODS.resources),
  affinity: fc.constant(PODS.affinity),
  tolerations: fc.constant(PODS.tolerations),
  nodeSelector: fc.dictionary(label, label, { maxKeys: 2 }),
};
const pods = {
  ...shared,
  priorityClassName: fc.constant('system-cluster-critical'),
  topologySpreadConstraints: fc.constant(PODS.topologySpreadConstraints),
};
const ingress = some({
  className: label,
  host: domain,
  annotations: fc.constant({ a: 'b' }),
  tlsSecretName: label,
});

const gateway = (kind: fc.Arbitrary<'TLSRoute' | 'HTTPRoute'>) =>
  fc.record({ name: label, namespace: label, sectionName: label, host: domain, kind }, { requiredKeys: ['name'] });

const peer = fc
  .tuple(domain, fc.constantFrom('https_spiffe', 'https_web'))
  .map(([trustDomain, bundleEndpointProfile]) => ({
    trustDomain,
    bundleEndpointUrl: `https://${trustDomain}/bundle`,
    bundleEndpointProfile,
    ...(bundleEndpointProfile === 'https_spiffe' ? { endpointSpiffeId: `spiffe://${trustDomain}/server` } : {}),
  }));

const certificate = fc.oneof(
  fc.record({
    servingCert: some({ fileSyncInterval: fc.integer({ min: 3600, max: 7_776_000 }), externalSecretRef: label }),
  }),
  fc.constant({
    acme: { directoryUrl: 'https://acme.io/$d', domainName: 'a.io', email: 'a@a.io', tosAccepted: 'true' },
  }),
);

const federation = fc.record(
  {
    bundleEndpoint: fc.oneof(
      some({ refreshHint: fc.integer({ min: 60, max: 3600 }) }),
      fc.record({ profile: fc.constantFrom('https_web', 'https_spiffe'), httpsWeb: certificate }),
    ),
    federatesWith: fc.uniqueArray(peer, { minLength: 1, maxLength: 3, selector: ({ trustDomain }) => trustDomain }),
    managedRoute: flag,
  },
  { requiredKeys: [] },
);

const connections = {
  tlsSecretName: label,
  passwordSecretRef: fc.record({ name: label, key: label }),
  maxOpenConns: fc.integer({ min: 1, max: 10_000 }),
  maxIdleConns: fc.integer({ min: 0, max: 10_000 }),
  connMaxLifetime: fc.integer({ min: 0, max: 100_000 }),
  disableMigration: flag,
};
const upstreamAuthority = fc.oneof(
  fc.record({
    vault: fc.record(
      {
        address: domain.map((host) => `https://${host}`),
        namespace: label,
        pkiMountPoint: label,
        caSecretRef: fc.record({ name: label, key: label }, { requiredKeys: ['name'] }),
        kubernetesAuth: fc.record(
          { role: label, mountPoint: label, audience: fc.constantFrom('vault', 'a$b') },
          { requiredKeys: ['role'] },
        ),
      },
      { requiredKeys: ['address', 'kubernetesAuth'] },
    ),
  }),
  fc.record({
    certManager: fc.record(
      { issuerName: domain, issuerKind: fc.constant('ClusterIssuer'), issuerGroup: domain },
      { requiredKeys: ['issuerName'] },
    ),
  }),
);

const { passwordSecretRef: _, ...withoutPassword } = connections;
const database = fc.oneof(
  fc.record({
    datastore: fc.record(
      {
        databaseType: fc.constantFrom('aws_postgres', 'aws_mysql'),
        connectionString: fc.constant('spire:@tcp(db:3306)/spire?parseTime=true'),
        aws: fc.record(
          { region: fc.constantFrom('us-east-2', 'eu-central-1'), credentialsSecretName: label },
          { requiredKeys: ['region'] },
        ),
        ...withoutPassword,
      },
      { requiredKeys: ['databaseType', 'connectionString', 'aws'] },
    ),
  }),
  fc.record({ datastore: some(connections) }),
  fc.record({
    replicas: fc.integer({ min: 1, max: 5 }),
    datastore: fc.record(
      {
        databaseType: fc.constantFrom('postgres', 'mysql'),
        connectionString: fc.constant('host=$' + '{SPIRE_DB_PASSWORD}'),
        ...connections,
      },
      { requiredKeys: ['databaseType', 'connectionString'] },
    ),
  }),
);

const server = fc
  .tuple(
    database,
    some({
      ...pods,
      ...log,
      caValidity: fc.constantFrom('24h', '168h'),
      defaultX509Validity: fc.constantFrom('1h', '2h30m'),
      defaultJWTValidity: fc.constantFrom('5m', '90s'),
      caKeyType: fc.constantFrom('rsa-2048', 'rsa-4096', 'ec-p256', 'ec-p384'),
      jwtKeyType: fc.constantFrom('rsa-2048', 'ec-p256'),
      keyManager: flag.map((disk) => ({ diskEnabled: disk, memoryEnabled: disk === 'true' ? 'false' : 'true' })),
      caSubject: some({
        country: fc.constantFrom('', 'CZ'),
        organization: fc.string({ maxLength: 32 }),
        commonName: fc.constantFrom('', 'a ca'),
      }),
      persistence: some({ size: fc.constant('2Gi'), storageClass: label }),
      federation,
      upstreamAuthority,
      ingress,
      gateway: gateway(fc.constant('TLSRoute')),
      deletion: some({
        persistentVolumeClaims: fc.constantFrom('Retain', 'Delete'),
        backup: fc.constantFrom('None', 'VolumeSnapshot'),
      }),
    }),
  )
  .map(([first, others]): ServerSpec => ({ ...others, ...first }));

const agent = some({
  ...pods,
  ...log,
  socketPath: folder.map((path) => `/sockets${path}`),
  nodeAttestor: some({ k8sPSATEnabled: flag }),
  workloadAttestors: some({
    k8sEnabled: flag,
    disableContainerSelectors: flag,
    useNewContainerLocator: flag,
    workloadAttestorsVerification: fc.oneof(
      some({ type: fc.constantFrom('auto', 'apiServerCA', 'skip') }),
      fc.record({ type: fc.constant('hostCert'), hostCertBasePath: folder, hostCertFileName: label }),
    ),
  }),
  kubeletAddress: fc.constantFrom('HostIP', 'NodeName', 'Localhost'),
}) as fc.Arbitrary<AgentSpec>;

const csi = some({ ...pods, agentSocketPath: folder, pluginName: domain, kubeletPath: folder, selinux: fc.boolean() });

const oidc = some({
  ...pods,
  ...log,
  csiDriverName: domain,
  replicaCount: fc.integer({ min: 1, max: 5 }),
  managedRoute: flag,
  externalSecretRef: label,
  additionalDomains: fc.uniqueArray(domain, { maxLength: 4 }),
  tls: fc.record({ secretName: label }),
  ingress,
  gateway: gateway(fc.constantFrom('TLSRoute', 'HTTPRoute')),
});

const values = fc
  .record({
    trustDomain: domain,
    clusterName: label,
    bundleConfigMap: label,
    host: domain,
    path: fc.constantFrom('', '/a'),
  })
  // The names of hosts in URLs may not look like numbers.
  .map(({ host, path, ...others }) => ({ ...others, jwtIssuer: `https://h-${host}.io${path}` }));

const history = fc.record({
  trustDomain: fc.record({ first: domain, current: domain, previous: domain }),
  clusterName: fc.record({ current: label, previous: label }),
});

/** GeneratedInputs are the inputs of all operands of one installation. */
export interface GeneratedInputs {
  readonly server: ServerOverrides;
  readonly agent: Overrides<AgentSpec>;
  readonly csi: Overrides<CsiSpec>;
  readonly oidc: Overrides<OidcSpec>;
}

/** externalsOf returns the objects of others that the rendered objects name. */
export function externalsOf({ server: { values, shared } }: GeneratedInputs): Externals {
  return { configMaps: [values?.bundleConfigMap ?? '', shared?.proxy?.trustedCAConfigMap ?? ''] };
}

/** generatedInputs generates valid installations. */
export const generatedInputs: fc.Arbitrary<GeneratedInputs> = fc
  .record({
    server,
    agent,
    csi,
    oidc,
    common: fc.record({
      shared: some({
        ...shared,
        proxy: some({
          httpProxy: fc.constant('http://egress.example.com'),
          httpsProxy: fc.constant('http://egress.example.com:3128'),
          noProxy: fc.constantFrom('', 'a.io,,b.io'),
          trustedCAConfigMap: label.map((name) => `ca-${name}`),
        }),
      }),
      values,
      isOpenShift: fc.boolean(),
      config: some({
        operandNamespace: label,
        kubeletAuthorization: fc.constantFrom('pods' as const, 'proxy' as const),
        imagePullSecrets: fc.array(label, { maxLength: 2 }),
      }),
    }),
    history: fc.option(history, { nil: undefined }),
  })
  .map(({ common, history, ...specs }) => ({
    server: { ...common, history, spec: specs.server },
    agent: { ...common, spec: specs.agent },
    csi: { ...common, spec: specs.csi },
    oidc: { ...common, spec: specs.oidc },
  }));

/** renderAll returns the objects of all operands of one installation. */
export function renderAll({ server, agent, csi, oidc }: GeneratedInputs): readonly Child[] {
  return [
    ...serverObjects(sampleServer(server)),
    ...agentObjects(sampleAgent(agent)),
    ...csiObjects(sampleCsi(csi)),
    ...oidcObjects(sampleOidc(oidc)),
  ];
}
