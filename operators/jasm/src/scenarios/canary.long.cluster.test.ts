import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployment, Pod, ReplicaSet, Secret, ServiceAccount } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { admit, defineOperator, deny, validating } from '@bowline/runtime';
import { createLog, createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCrashing } from '../../../../test/support/crashing-program.ts';
import { CONSENT_ANNOTATIONS, POD_ANNOTATIONS } from '../api/names.ts';
import { jasmWith } from '../operator.ts';
import { MOCK_SECRET, type MockEntries, mockSecretData } from '../providers/mock/mock-values.ts';
import type { SecretProvider } from '../providers/provider.ts';
import { providerKinds } from '../providers/provider-kinds.ts';
import { useEnvironment } from '../testing/fake-aws.test-support.ts';
import {
  entry,
  type JasmCluster,
  jasmCluster,
  kindOf,
  podSpec,
  secretKey,
  textOf,
  valuesOf,
} from '../testing/jasm-cluster.test-support.ts';
import { CANARY, LeakyStore, LISTED, leaks, UNKNOWN_CLIENT } from './canary.test-support.ts';

/** leaky denies Secrets whose name has a prefix, and quotes them. */
const leaky = defineOperator({
  name: 'tattling',
  domain: 'bowline.dev',
  controllers: [],
  webhooks: [
    validating(Secret, { name: 'tattling', operations: ['CREATE', 'UPDATE'] }).handle(({ object }) => {
      const { name = '' } = object.metadata ?? {};
      const said = JSON.stringify([object.data, valuesOf(object)]);
      if (name.startsWith('forbidden')) return deny({ message: `no ${said}` });
      if (!name.startsWith('invalid')) return admit();
      const causes = Object.values(valuesOf(object)).map((value) => ({
        reason: 'FieldValueInvalid',
        field: `data.${value}`,
        message: said,
      }));
      return deny({ message: `no ${said}`, causes });
    }),
  ],
});

/** buggy is a provider that throws errors that no provider should throw. */
const buggy: SecretProvider = {
  name: 'buggy',
  capabilities: { versions: false, batch: false },
  fetchSecret: ({ path }) =>
    path === 'parse' ? Promise.resolve(JSON.parse(`{"password":"${CANARY}"`) as never) : Promise.reject(odd()),
};

function odd(): Error {
  return Object.assign(new TypeError(`cannot read ${CANARY}`, { cause: new Error(CANARY) }), { answer: CANARY });
}

const startedAt = Date.now();
const lines: string[] = [];
const metrics = createMetrics({ process: false });
let folder: string;
let store: LeakyStore;
let environment: Disposable;
let c: JasmCluster;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'canary-'));
  await writeFile(join(folder, 'token'), 'a-token');
  store = await LeakyStore.start();
  environment = useEnvironment({
    AWS_PROFILE: undefined,
    AWS_ENDPOINT_URL: store.http.url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'a-key',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
  c = await jasmCluster({
    operators: [
      jasmWith({ providers: (config) => new Map([...providerKinds(config), ['buggy', kindOf(buggy, [])]]) }),
      leaky,
    ],
    log: createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } }),
    metrics,
    config: {
      policy: ['aws-secretsmanager', 'vault', 'azure-keyvault', 'kubernetes', 'mock', 'buggy'].map((provider) => ({
        namespaces: ['**'],
        provider,
        paths: ['**'],
        roles: ['**'],
      })),
      allowRestart: true,
      restart: true,
      perObjectMetrics: true,
      aws: { endpoint: store.http.url },
      vault: { address: store.http.url, auth: { method: 'token', tokenFile: join(folder, 'token') } },
      azure: {
        vaults: { prod: store.http.url },
        defaultVault: 'prod',
        auth: { method: 'managed-identity', metadataHost: store.http.url },
      },
      mock: { enabled: true },
    },
  });
});
afterAll(async () => {
  // Runs that wait for another attempt end as time advances.
  await whileTimePasses(async () => await c[Symbol.asyncDispose]());
  environment[Symbol.dispose]();
  await store[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const fromAws = (path: string, secretName: string, more: object = {}) =>
  entry(path, secretName, { provider: 'aws-secretsmanager', ...more });
const fromVault = (name: string) => entry(`secret/data/${name}`, `vault-${name}`, { provider: 'vault' });
const fromAzure = (name: string) => entry(name, `azure-${name}`, { provider: 'azure-keyvault' });
const fromCluster = (path: string, secretName: string, more: object = {}) =>
  entry(path, secretName, { provider: 'kubernetes', ...more });
const roleOf = (name: string): string => `arn:aws:iam::123456789012:role/${name}`;

type Failures = Readonly<Record<string, readonly [ask: Readonly<Record<string, unknown>>, reason: string]>>;

/** The failures by pod: the request, and the reason of the event. */
const FAILURES: Failures = {
  text: [fromAws('text', 'text'), 'SecretParseFailed'],
  list: [fromAws('list', 'list'), 'SecretParseFailed'],
  cut: [fromAws('cut', 'cut'), 'SecretParseFailed'],
  json: [fromAws('json', 'json'), 'SecretParseFailed'],
  spaces: [fromAws('spaces', 'spaces'), 'SecretKeyInvalid'],
  large: [fromAws('large', 'large'), 'SecretTooLarge'],
  'missing-key': [fromAws('fine', 'missing-key', { keys: ['none'] }), 'SecretKeyMissing'],
  decode: [fromAws('fine', 'decode', { decode: 'Base64' }), 'SecretParseFailed'],
  template: [fromAws('fine', 'template', { template: { n: '{{ int(data.password) }}' } }), 'SecretParseFailed'],
  index: [fromAws('fine', 'index', { template: { n: '{{ {}[data.password] }}' } }), 'SecretParseFailed'],
  registry: [
    fromAws('fine', 'registry', { type: 'kubernetes.io/dockerconfigjson', keys: { '.dockerconfigjson': 'password' } }),
    'SecretParseFailed',
  ],
  forbidden: [fromAws('fine', 'forbidden'), 'SecretSyncFailed'],
  invalid: [fromAws('fine', 'invalid'), 'SecretSyncFailed'],
  parameter: [fromAws('parameter', 'parameter'), 'SecretFetchFailed'],
  strange: [fromAws('strange', 'strange'), 'SecretFetchFailed'],
  denied: [fromAws('denied', 'denied'), 'SecretFetchFailed'],
  deleted: [fromAws('deleted', 'deleted'), 'SecretFetchFailed'],
  missing: [fromAws('missing', 'missing'), 'SecretFetchFailed'],
  failing: [fromAws('failing', 'failing'), 'SecretFetchFailed'],
  'no-json': [fromAws('no-json', 'no-json'), 'SecretFetchFailed'],
  page: [fromAws('page', 'page'), 'SecretFetchFailed'],
  'role-denied': [fromAws('fine', 'role-denied', { role: roleOf('denied') }), 'SecretFetchFailed'],
  'role-strange': [fromAws('fine', 'role-strange', { role: roleOf('strange') }), 'SecretFetchFailed'],
  'vault-refused': [fromVault('refused'), 'SecretFetchFailed'],
  'vault-failing': [fromVault('failing'), 'SecretFetchFailed'],
  'vault-cut': [fromVault('cut'), 'SecretFetchFailed'],
  'azure-denied': [fromAzure('denied'), 'SecretFetchFailed'],
  'azure-refused': [fromAzure('refused'), 'SecretFetchFailed'],
  'azure-failing': [fromAzure('failing'), 'SecretFetchFailed'],
  'azure-cut': [fromAzure('cut'), 'SecretFetchFailed'],
  'azure-token': [{ ...fromAzure('token'), role: UNKNOWN_CLIENT }, 'SecretFetchFailed'],
  'mock-cut': [entry('cut', 'mock-cut'), 'SecretParseFailed'],
  'buggy-parse': [entry('parse', 'buggy-parse', { provider: 'buggy' }), 'SecretFetchFailed'],
  'buggy-odd': [entry('odd', 'buggy-odd', { provider: 'buggy' }), 'SecretFetchFailed'],
};

/** The same with Secrets of the cluster. */
const failuresIn = (namespace: string): Failures => ({
  'cluster-unshared': [fromCluster(`${namespace}/unshared`, 'cluster-unshared'), 'SecretFetchFailed'],
  'cluster-missing': [fromCluster(`${namespace}/shared`, 'cluster-missing', { keys: ['none'] }), 'SecretKeyMissing'],
  'cluster-decode': [fromCluster(`${namespace}/shared`, 'cluster-decode', { decode: 'Base64' }), 'SecretParseFailed'],
});

/** everything returns all that the operator has logged and written, except for the content of Secrets. */
async function everything(): Promise<Readonly<Record<string, string>>> {
  const { namespace } = c;
  const kinds = [Event, Pod, Deployment, ReplicaSet] as const;
  const lists = await Promise.all(kinds.map((kind) => c.admin.list<object>(kind, { namespace })));
  const secrets = await c.admin.list(Secret, { namespace });
  const audited = (await c.controlPlane.audit(startedAt)).filter(
    ({ user, objectRef }) =>
      user.username?.startsWith(`system:serviceaccount:${c.managerNamespace}:`) && objectRef?.resource !== 'secrets',
  );
  return {
    log: lines.join(''),
    metrics: await metrics.render(),
    status: JSON.stringify(c.manager.status()),
    objects: lists.flatMap(({ items }) => items.map((item) => JSON.stringify(item))).join('\n'),
    secrets: secrets.items.map(({ data: _, ...secret }) => JSON.stringify(secret)).join('\n'),
    audit: audited.map((event) => JSON.stringify(event)).join('\n'),
  };
}

/** whileTimePasses advances the clock during work that is retried. */
async function whileTimePasses<T>(work: () => Promise<T>): Promise<T> {
  const passing = setInterval(() => void c.clock.advance(1_000), 20);
  try {
    return await work();
  } finally {
    clearInterval(passing);
  }
}

it('scenario 17 exposes a value only in its Secret, whatever fails', async () => {
  const { namespace, managerNamespace } = c;
  for (const [name, annotations] of Object.entries({
    shared: { [CONSENT_ANNOTATIONS.sharedWith]: namespace },
    unshared: {},
  })) {
    await c.admin.create(Secret, { metadata: { namespace, name, annotations }, stringData: { password: CANARY } });
  }
  const mock = { namespace: managerNamespace, name: MOCK_SECRET };
  const mocked = mockSecretData(
    new Map<string, MockEntries>([
      ['fine', { password: CANARY }],
      ['cut', `{"password":"${CANARY}`],
    ]),
  );
  await c.admin.create(Secret, { metadata: mock, data: mocked });
  await c.createPod('fine', fromAws('fine', 'fine'));
  await c.createPod('vault-fine', fromVault('fine'));
  await c.createPod('azure-fine', fromAzure('fine'));
  await c.createPod('mock-fine', entry('fine', 'mock-fine'));
  await c.createPod('cluster-fine', fromCluster(`${namespace}/shared`, 'cluster-fine'));
  for (const name of ['fine', 'vault-fine', 'azure-fine', 'mock-fine', 'cluster-fine']) {
    expect(valuesOf(await c.untilSecret(name))).toMatchObject({ password: CANARY });
  }
  const failures = { ...FAILURES, ...failuresIn(namespace) };
  for (const [pod, [ask]] of Object.entries(failures)) await c.createPod(pod, ask);
  await whileTimePasses(async () => {
    for (const [pod, [, reason]] of Object.entries(failures)) await c.untilEvent(pod, reason);
  });
  // A list is read with one call, and has an error for each of its secrets.
  await c.createPod('listed', { secrets: Object.keys(LISTED).map((name) => fromAws(name, name)) });
  await whileTimePasses(async () => {
    for (const [name, code] of Object.entries(LISTED)) {
      const isAbout = ({ note }: Event): boolean => note?.includes(`Secret ${name}:`) === true;
      if (code === undefined) await c.untilSecret(name);
      else await c.untilEvent('listed', 'SecretFetchFailed', isAbout);
    }
  });
  // Values that can no longer be parsed.
  await c.admin.patch(Secret, mock, {
    type: 'merge',
    body: { data: { 'values.json': Buffer.from(CANARY).toString('base64') } },
  });
  await c.createPod('mock-broken', entry('broken', 'mock-broken'));
  await c.untilEvent('mock-broken', 'SecretFetchFailed');
  expect((await c.untilEvent('invalid', 'SecretSyncFailed')).note).toContain('the API server rejects it as invalid');
  expect((await c.untilEvent('forbidden', 'SecretSyncFailed')).note).toMatch(/denied the request$/);
  // An edit is reverted, and a workload is restarted for a new value.
  const key = secretKey(c, 'rotated');
  const template = {
    metadata: {
      labels: { app: 'rotated' },
      annotations: { [POD_ANNOTATIONS.secretSync]: textOf(fromAws('rotated', 'rotated', { refreshInterval: '1m' })) },
    },
    spec: podSpec(),
  };
  await c.admin.create(Deployment, {
    metadata: key,
    spec: { selector: { matchLabels: { app: 'rotated' } }, template },
  });
  const before = await c.untilSecret('rotated');
  await c.admin.patch(Secret, key, { type: 'merge', body: { data: { password: 'eA==' } } });
  await c.untilSecret('rotated', ({ metadata, data }) => {
    return metadata?.resourceVersion !== before.metadata?.resourceVersion && data?.password === before.data?.password;
  });
  store.rotate();
  const isRestarted = ({ spec }: Deployment): boolean =>
    Object.keys(spec?.template.metadata?.annotations ?? {}).some((name) => name.includes('restarted-for'));
  await whileTimePasses(() => c.until(Deployment, { name: 'rotated' }, isRestarted));

  for (const [where, text] of Object.entries(await everything())) {
    expect(text.length, where).toBeGreaterThan(0);
    expect(leaks(text), where).toEqual([]);
  }
}, 60_000);

it('scenario 17 exposes no value in the output and files of a process that crashes', async () => {
  await whileTimePasses(() => c.stop());
  const { managerNamespace, namespace } = c;
  const accounts = await c.admin.list(ServiceAccount, { namespace: managerNamespace });
  const account = accounts.items.find(({ metadata }) => metadata?.name?.startsWith('jasm-'))?.metadata?.name ?? '';
  const kubeconfig = join(folder, 'kubeconfig');
  const identity = { serviceAccount: { namespace: managerNamespace, name: account } };
  await writeFile(kubeconfig, JSON.stringify(await c.kubeconfig(identity)));
  const config = join(folder, 'bowline.yaml');
  await writeFile(
    config,
    JSON.stringify({ operators: ['jasm'], jasm: { allowAllPaths: true, aws: { endpoint: store.http.url } } }),
  );
  const place = ['--kubeconfig', kubeconfig, '--namespace', managerNamespace, '--namespaces', namespace];
  const served = ['--health-address', '0', '--metrics-address', '0', '--log-level', 'debug'];
  await using operator = await startCrashing({ folder, args: ['run', '--config', config, ...place, ...served] });
  await c.createPod('crash-text', fromAws('text', 'crash-text'));
  await c.createPod('crash', fromAws('fine', 'crash'));
  await c.untilSecret('crash');
  await c.untilEvent('crash-text', 'SecretParseFailed');
  const left = await operator.crash();
  const signs = ['reconcile failed', 'Error: a crash on purpose', '"javascriptStack"'];
  expect(signs.filter((sign) => !left.includes(sign))).toEqual([]);
  expect(leaks(left)).toEqual([]);
}, 60_000);
