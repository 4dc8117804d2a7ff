import { type Case, DRY, MERGE, type Step, table } from './compare-kinds.test-support.ts';

const NAMESPACES = '/api/v1/namespaces';
const SECRETS = '/api/v1/namespaces/NS/secrets';
const ACCOUNTS = '/api/v1/namespaces/NS/serviceaccounts';

const secret = (type: string | undefined, data: unknown, more: object = {}): Step => [
  'POST',
  `${SECRETS}${DRY}`,
  { metadata: { name: 's', ...more }, type, data },
];
const quota = (hard: object): Step => [
  'POST',
  `/api/v1/namespaces/NS/resourcequotas${DRY}`,
  { metadata: { name: 'r' }, spec: { hard } },
];
const LIMITS = '/api/v1/namespaces/NS/limitranges';
const limits = (...items: object[]): Step => [
  'POST',
  `${LIMITS}${DRY}`,
  { metadata: { name: 'l' }, spec: { limits: items } },
];
const container = (item: object): Step => limits({ type: 'Container', ...item });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** CASES covers the kinds of the core group that are not workloads. */
export const CASES: readonly Case[] = [
  [
    'a namespace',
    ['POST', NAMESPACES, { metadata: { name: 'OWN' } }],
    ['PATCH', `${NAMESPACES}/OWN`, { metadata: { labels: { a: 'b', 'kubernetes.io/metadata.name': 'x' } } }, MERGE],
    ['PATCH', `${NAMESPACES}/OWN`, { spec: { finalizers: ['a.b/c'] }, status: { phase: 'Terminating' } }, MERGE],
    ['GET', `${NAMESPACES}/OWN/status`],
    [
      'PUT',
      `${NAMESPACES}/OWN/finalize${DRY}`,
      { metadata: { name: 'OWN' }, spec: { finalizers: ['kubernetes', 'x'] } },
    ],
    ['PUT', `${NAMESPACES}/OWN/finalize${DRY}`, { metadata: { name: 'OWN' }, spec: {} }],
    [
      'PUT',
      `${NAMESPACES}/OWN/finalize${DRY}`,
      { metadata: { name: 'OWN', labels: { x: 'y' } }, spec: { finalizers: ['kubernetes', 'a.b/c'] }, status: {} },
    ],
    ['DELETE', `${NAMESPACES}/OWN${DRY}`],
  ],
  [
    'a namespace with a generated name',
    ['POST', `${NAMESPACES}${DRY}`, { metadata: { name: 'A_B' } }],
    ['POST', `${NAMESPACES}${DRY}`, { metadata: {} }],
    ['POST', `${NAMESPACES}${DRY}`, { metadata: { name: 'a.b' } }],
    [
      'POST',
      `${NAMESPACES}${DRY}`,
      { metadata: { name: 'OWN-b', labels: { 'kubernetes.io/metadata.name': 'x' } }, spec: { finalizers: ['a/b'] } },
    ],
    ['POST', `${NAMESPACES}${DRY}`, { metadata: { name: 'OWN-c' }, spec: { finalizers: ['nope', ''] } }],
  ],
  ['a secret without a type', secret(undefined, { a: 'YQ==' })],
  [
    'a secret with text',
    ['POST', SECRETS, { metadata: { name: 'text' }, stringData: { a: 'b' }, data: { a: 'eA==', c: 'ZA==' } }],
    ['PATCH', `${SECRETS}/text`, { stringData: { e: 'ü' } }, MERGE],
    ['PATCH', `${SECRETS}/text`, { type: 'other' }, MERGE],
    ['PATCH', `${SECRETS}/text`, { type: null }, MERGE],
    ['PATCH', `${SECRETS}/text`, { immutable: true }, MERGE],
    ['PATCH', `${SECRETS}/text`, { immutable: null, data: { a: 'eQ==' } }, MERGE],
    ['PATCH', `${SECRETS}/text`, { stringData: { a: 'y' } }, MERGE],
    ['PATCH', `${SECRETS}/text`, { metadata: { labels: { a: 'b' } } }, MERGE],
    ['PATCH', `${SECRETS}/text`, { data: { 'a b': 'eQ==' } }, MERGE],
  ],
  // One key at a time: the real server iterates over maps in random order.
  [
    'a secret with bad keys',
    secret(undefined, { 'a b': 'YQ==' }),
    secret(undefined, { '..': 'YQ==' }),
    secret(undefined, { '.': 'YQ==' }),
    secret(undefined, { '..a': 'YQ==' }),
    secret(undefined, { ['a'.repeat(254)]: 'YQ==' }),
  ],
  ['a secret with bad base64', secret(undefined, { a: 'x!' }), secret(undefined, { a: 'YQ' })],
  ['a secret with nothing', secret(undefined, undefined), secret(undefined, {}), secret('', { a: '' })],
  ['a secret too large', secret(undefined, { a: Buffer.alloc(1_048_577).toString('base64') })],
  [
    'a secret of a service account',
    secret('kubernetes.io/service-account-token', {}),
    secret('kubernetes.io/service-account-token', {}, { annotations: { 'kubernetes.io/service-account.name': 'x' } }),
  ],
  [
    'secrets for registries',
    secret('kubernetes.io/dockercfg', {}),
    secret('kubernetes.io/dockercfg', { '.dockercfg': base64('nope') }),
    secret('kubernetes.io/dockercfg', { '.dockercfg': base64('{}') }),
    secret('kubernetes.io/dockerconfigjson', {}),
    secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('{') }),
    secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('[1]') }),
    secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '' }),
    secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('{"auths":{}}') }),
  ],
  [
    'secrets of other types',
    secret('kubernetes.io/basic-auth', {}),
    secret('kubernetes.io/basic-auth', { username: 'YQ==' }),
    secret('kubernetes.io/ssh-auth', {}),
    secret('kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }),
    secret('kubernetes.io/ssh-auth', { 'ssh-privatekey': 'YQ==' }),
    secret('kubernetes.io/tls', {}),
    secret('kubernetes.io/tls', { 'tls.crt': 'YQ==' }),
    secret('kubernetes.io/tls', { 'tls.crt': '', 'tls.key': '' }),
    secret('bootstrap.kubernetes.io/token', { a: 'YQ==' }),
    secret('example.com/mine', { a: 'YQ==' }),
  ],
  [
    'a service account',
    [
      'POST',
      `${ACCOUNTS}${DRY}`,
      { metadata: { name: 'a' }, secrets: [{ name: 'x' }], automountServiceAccountToken: false },
    ],
    ['POST', `${ACCOUNTS}${DRY}`, { metadata: { name: 'A B' }, imagePullSecrets: [{ name: 'x' }, {}] }],
  ],
  [
    'tables of namespaces, secrets, accounts and maps',
    ['POST', ACCOUNTS, { metadata: { name: 'table' }, secrets: [{ name: 'x' }] }],
    [
      'POST',
      '/api/v1/namespaces/NS/configmaps',
      { metadata: { name: 'table' }, data: { a: 'b' }, binaryData: { c: '' } },
    ],
    table('/api/v1/namespaces?fieldSelector=metadata.name=OWN'),
    table(`${SECRETS}?fieldSelector=metadata.name=text`),
    table(`${ACCOUNTS}?fieldSelector=metadata.name=table`),
    table('/api/v1/namespaces/NS/configmaps?fieldSelector=metadata.name=table'),
  ],
  [
    'a quota',
    [
      'POST',
      '/api/v1/namespaces/NS/resourcequotas',
      {
        metadata: { name: 'q' },
        spec: { hard: { cpu: 1, 'limits.cpu': '2.50' } },
      },
    ],
    quota({ nope: '1' }),
    quota({ 'limits.cpu': '-1' }),
    quota({ pods: '1.5' }),
    quota({ 'a.b/c': '1' }),
    quota({ 'count/x': '2' }),
    quota({ 'requests.storage': '1Gi' }),
    [
      'POST',
      `/api/v1/namespaces/NS/resourcequotas${DRY}`,
      { metadata: { name: 'r' }, spec: { hard: { cpu: '1' }, scopes: ['BestEffort', 'NotBestEffort', 'Nope'] } },
    ],
    ['POST', `/api/v1/namespaces/NS/resourcequotas${DRY}`, { metadata: { name: 'r' } }],
    ['PATCH', '/api/v1/namespaces/NS/resourcequotas/q', { spec: { scopes: ['BestEffort'] } }, MERGE],
  ],
  [
    'limits',
    ['POST', `${LIMITS}${DRY}`, { metadata: { name: 'l' } }],
    limits(),
    container({ max: { cpu: 1 }, min: { cpu: '100m' }, default: { cpu: '500m' }, defaultRequest: { cpu: '200m' } }),
    container({ max: { memory: '1Gi' } }),
    container({ min: { memory: '1Gi' } }),
    container({ default: { memory: '1Gi' } }),
    container({ min: { cpu: 2 }, max: { cpu: 1 } }),
    container({ max: { cpu: 1 }, default: { cpu: 2 } }),
    container({ max: { cpu: 1 }, defaultRequest: { cpu: 2 } }),
    container({ min: { cpu: 1 }, default: { cpu: '500m' } }),
    container({ maxLimitRequestRatio: { cpu: '0.5' } }),
    container({ max: { nope: 1 } }),
    limits({ type: 'Pod', max: { cpu: 1 }, default: { cpu: 1 }, defaultRequest: { cpu: 1 } }),
    limits({ type: 'Pod' }, { type: 'Pod' }),
    limits({ type: 'PersistentVolumeClaim' }),
    limits({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }),
    limits({ type: 'Nope' }),
    limits({}),
    table(LIMITS),
  ],
];
