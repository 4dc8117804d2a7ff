import type { AgentSpec, CsiSpec, OidcSpec, Overrides, ServerOverrides } from './sample-inputs.test-support.ts';

/** Variants are inputs by what is special about them. */
export type Variants<Overrides> = Readonly<Record<string, Overrides>>;

const history = {
  trustDomain: { first: 'first.io', current: 'example.io', previous: 'first.io' },
  clusterName: { current: 'one', previous: 'zero' },
};

const peers = [
  {
    trustDomain: 'peer.io',
    bundleEndpointUrl: 'https://peer.io:8443',
    endpointSpiffeId: 'spiffe://peer.io/spire/server',
  },
  { trustDomain: 'web.io', bundleEndpointUrl: 'https://web.io/bundle', bundleEndpointProfile: 'https_web' },
] as const;

const acme = {
  directoryUrl: 'https://acme.example.io/directory',
  domainName: 'federation.example.io',
  email: 'admin@example.io',
  tosAccepted: 'true',
} as const;

/** PODS are settings of pods of every kind. */
export const PODS = {
  labels: { team: 'a' },
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
      },
    },
  },
  tolerations: [{ key: 'spire', operator: 'Exists', effect: 'NoSchedule' }],
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  priorityClassName: 'system-cluster-critical',
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
  ],
};

/** PROXY is the complete proxy of all operands. */
export const PROXY = {
  httpProxy: 'http://egress.example.com:3128',
  httpsProxy: 'http://egress.example.com:3129',
  noProxy: '.example.io,10.0.0.0/8',
  trustedCAConfigMap: 'trusted-cas',
};

const gateway = { name: 'public', namespace: 'gateways', sectionName: 'tls', host: 'public.example.io' } as const;

const ingress = {
  className: 'nginx',
  host: 'public.example.io',
  annotations: { 'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS' },
  tlsSecretName: 'public-tls',
};

/** SERVER_VARIANTS are the inputs of servers that tests render. */
export const SERVER_VARIANTS: Variants<ServerOverrides> = {
  'the defaults': {},
  'the defaults on OpenShift': { isOpenShift: true },
  'a proxy': { shared: { proxy: PROXY } },
  'a changed identity': { history },
  'keys in memory': { spec: { keyManager: { diskEnabled: 'false', memoryEnabled: 'true' } } },
  'other key types': { spec: { caKeyType: 'ec-p384', jwtKeyType: 'ec-p256' } },
  'a complete subject': { spec: { caSubject: { country: 'CZ', organization: 'A "quoted" $ORG', commonName: 'ca' } } },
  'a SQLite database with options': {
    spec: { datastore: { connectionString: 'file:/run/spire/data/d.sqlite3?_busy_timeout=100' } },
    history,
  },
  'several servers with PostgreSQL': {
    spec: {
      replicas: 3,
      datastore: {
        databaseType: 'postgres',
        connectionString: 'dbname=spire user=spire host=db sslmode=verify-full sslrootcert=/run/spire/db/certs/ca.crt',
        tlsSecretName: 'db-tls',
        maxOpenConns: 7,
        maxIdleConns: 0,
        connMaxLifetime: 60,
        disableMigration: 'true',
      },
    },
    secretsHash: 'abc',
  },
  'MySQL with a password': {
    spec: {
      caSubject: { organization: 'A $ORG' },
      datastore: {
        databaseType: 'mysql',
        connectionString: 'spire:$' + '{SPIRE_DB_PASSWORD}@tcp(db:3306)/spire?parseTime=true',
        passwordSecretRef: { name: 'db', key: 'password' },
      },
    },
  },
  'PostgreSQL of AWS with credentials': {
    spec: {
      replicas: 2,
      datastore: {
        databaseType: 'aws_postgres',
        connectionString: 'dbname=spire user=spire host=db.example.io port=5432 sslmode=require',
        aws: { region: 'eu-central-1', credentialsSecretName: 'aws' },
      },
    },
  },
  'MySQL of AWS': {
    spec: {
      datastore: {
        databaseType: 'aws_mysql',
        connectionString: 'spire:@tcp(db.example.io:3306)/spire?parseTime=true&allowCleartextPasswords=1&tls=true',
        aws: { region: 'us-east-2' },
      },
    },
  },
  'a backup before deletion': {
    spec: { deletion: { persistentVolumeClaims: 'Delete', backup: 'VolumeSnapshot', volumeSnapshotClassName: 'fast' } },
  },
  'a CA of Vault': {
    spec: {
      upstreamAuthority: {
        vault: {
          address: 'https://vault.example.io:8200',
          namespace: 'team',
          pkiMountPoint: 'pki/spire',
          caSecretRef: { name: 'vault-ca', key: 'ca.pem' },
          kubernetesAuth: { role: 'spire', mountPoint: 'cluster-one', audience: 'https://vault.example.io' },
        },
      },
    },
  },
  'a CA of Vault with defaults': {
    spec: { upstreamAuthority: { vault: { address: 'https://vault.example.io', kubernetesAuth: { role: 'spire' } } } },
  },
  'a CA of cert-manager': {
    spec: { upstreamAuthority: { certManager: { issuerName: 'root', issuerKind: 'ClusterIssuer' } } },
    config: { certificateRequests: true },
  },
  'federation with SPIFFE': { spec: { federation: { federatesWith: peers }, ingress } },
  'federation without peers on OpenShift': { spec: { federation: {} }, isOpenShift: true },
  'federation with ACME': {
    spec: { federation: { bundleEndpoint: { profile: 'https_web', httpsWeb: { acme } }, federatesWith: peers } },
    isOpenShift: true,
  },
  'federation with a certificate': {
    spec: {
      federation: {
        bundleEndpoint: {
          profile: 'https_web',
          refreshHint: 60,
          httpsWeb: { servingCert: { fileSyncInterval: 3600, externalSecretRef: 'route-tls' } },
        },
      },
    },
    isOpenShift: true,
  },
  'federation behind a Gateway': { spec: { federation: {}, gateway }, isOpenShift: true },
  'federation with a certificate behind a Gateway': {
    spec: {
      federation: { bundleEndpoint: { profile: 'https_web', httpsWeb: { servingCert: {} } } },
      gateway: { name: 'public', kind: 'HTTPRoute' },
    },
  },
  'settings of pods': {
    spec: {
      ...PODS,
      logLevel: 'debug',
      logFormat: 'json',
      persistence: { size: '5Gi', accessMode: 'ReadWriteOncePod', storageClass: 'fast' },
      deletion: { persistentVolumeClaims: 'Delete' },
    },
    config: { imagePullSecrets: ['pull'] },
  },
};

/** AGENT_VARIANTS are the inputs of agents that tests render. */
export const AGENT_VARIANTS: Variants<Overrides<AgentSpec>> = {
  'the defaults': {},
  'the defaults on OpenShift': { isOpenShift: true },
  'a proxy': { shared: { proxy: PROXY } },
  'no attestors': { spec: { nodeAttestor: { k8sPSATEnabled: 'false' }, workloadAttestors: { k8sEnabled: 'false' } } },
  'another container locator': {
    spec: { workloadAttestors: { disableContainerSelectors: 'true', useNewContainerLocator: 'false' } },
  },
  'a CA of the node': {
    spec: {
      workloadAttestors: {
        workloadAttestorsVerification: {
          type: 'hostCert',
          hostCertBasePath: '/etc/kubernetes/pki',
          hostCertFileName: 'ca.crt',
        },
      },
    },
  },
  'the CA of the cluster': {
    spec: { workloadAttestors: { workloadAttestorsVerification: { type: 'apiServerCA' } } },
    isOpenShift: true,
  },
  'no verification': {
    spec: { workloadAttestors: { workloadAttestorsVerification: { type: 'skip' } } },
    isOpenShift: true,
  },
  'kubelet on localhost': { spec: { kubeletAddress: 'Localhost' } },
  'kubelet by name': { spec: { kubeletAddress: 'NodeName' }, config: { kubeletAuthorization: 'proxy' } },
  'settings of pods': {
    spec: { ...PODS, socketPath: '/run/other', logLevel: 'error', logFormat: 'json' },
    config: { imagePullSecrets: ['pull'] },
  },
};

/** CSI_VARIANTS are the inputs of CSI drivers that tests render. */
export const CSI_VARIANTS: Variants<Overrides<CsiSpec>> = {
  'the defaults': {},
  'the defaults on OpenShift': { isOpenShift: true },
  'a proxy': { shared: { proxy: PROXY } },
  'other paths': {
    spec: { agentSocketPath: '/run/other', kubeletPath: '/data/kubelet', pluginName: 'csi.example.io' },
  },
  'an SELinux context': { spec: { selinux: true } },
  'settings of pods': { spec: PODS, config: { imagePullSecrets: ['pull'] } },
};

/** OIDC_VARIANTS are the inputs of OIDC discovery providers that tests render. */
export const OIDC_VARIANTS: Variants<Overrides<OidcSpec>> = {
  'the defaults': {},
  'the defaults on OpenShift': { isOpenShift: true },
  'a proxy': { shared: { proxy: PROXY } },
  'several pods and names': { spec: { replicaCount: 2, additionalDomains: ['b.example.io', 'a.example.io'], ingress } },
  'an own certificate': { spec: { tls: { secretName: 'own-tls' }, externalSecretRef: 'route-tls' }, isOpenShift: true },
  'a TLSRoute': { spec: { gateway, ingress } },
  'an HTTPRoute': { spec: { gateway: { name: 'public', kind: 'HTTPRoute' } }, isOpenShift: true },
  'no Route': { spec: { managedRoute: 'false' }, isOpenShift: true },
  'an issuer with a path': { values: { jwtIssuer: 'https://example.io/tenants/one' } },
  'settings of pods': {
    spec: { ...PODS, logLevel: 'warn', logFormat: 'json', csiDriverName: 'csi.example.io' },
    config: { imagePullSecrets: ['pull'] },
  },
};
