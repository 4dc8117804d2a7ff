import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  NetworkPolicy,
  Pod,
  ReplicaSet,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { admit, defineOperator, deny, findCondition, validating } from '@bowline/runtime';
import { createLog, createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bowline } from '../../../../apps/bowline/src/testing/test-operators.test-support.ts';
import { type CrashingProgram, startCrashing } from '../../../../test/support/crashing-program.ts';
import { childrenOf, LeakSources } from '../../../../test/support/leak-sources.ts';
import { testAuthority, testIdentity } from '../agent/agent-identities.test-support.ts';
import { type AgentProcess, startAgent } from '../agent/agent-process.test-support.ts';
import { SERVER_NAME } from '../agent/running-agent.test-support.ts';
import type { AgentService } from '../agent-protocol/agent-service.ts';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { MANAGER_NAME } from '../api/names.ts';
import { createHostTree, type HostTree } from '../discovery/host-tree.test-support.ts';
import { ALL, type ApiCluster, apiCluster, inBase64, PIN_SECRET } from '../http-api/api-cluster.test-support.ts';
import { hsmSecrets, hsmSecretsWith } from '../operator.ts';
import { DEVICE } from '../testing/secrets-cluster.test-support.ts';
import { CANARIES, type LeakyDevice, leakyDevice } from './canary.test-support.ts';
import { AGENTS_FILE, remoteAgents } from './canary-agents.test-support.ts';
import type { Behaviour } from './canary-module.test-support.ts';

const waiting = { timeout: 60_000, interval: 100 };
const { value: VALUE, update: UPDATE, pin: PIN, newPin: NEW_PIN, wrongPin: WRONG_PIN } = CANARIES;

/** leaky denies Secrets whose name has a prefix, and quotes them. */
const leaky = defineOperator({
  name: 'tattling',
  domain: 'bowline.dev',
  controllers: [],
  webhooks: [
    validating(Secret, { name: 'tattling', operations: ['CREATE', 'UPDATE'] }).handle(({ object }) => {
      const { name = '' } = object.metadata ?? {};
      const values = Object.values(object.data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
      const quoted = JSON.stringify([object.data, values]);
      if (name.startsWith('forbidden')) return deny({ message: `no ${quoted}` });
      if (!name.startsWith('invalid')) return admit();
      const causes = values.map((value) => ({ reason: 'FieldValueInvalid', field: `data.${value}`, message: quoted }));
      return deny({ message: `no ${quoted}`, causes });
    }),
  ],
});

/** A device of the test with its agent. */
interface Running {
  readonly device: LeakyDevice;
  agent: AgentProcess;
}

const startedAt = Date.now();
const newSources = () => new LeakSources(Object.values(CANARIES));
let sources = newSources();
/** What was requested explicitly, and is no leak. */
const requested = newSources();
const metrics = createMetrics({ process: false });
const log = createLog({ level: 'debug', destination: { write: (line) => sources.add('log of the manager', line) } });
/** Disposed of in reverse order. */
const used: AsyncDisposable[] = [];
const running = new Map<string, Running>();
let authority: Awaited<ReturnType<typeof testAuthority>>;
let identity: Awaited<ReturnType<typeof testIdentity>>;
let c: ApiCluster;
let token: string;
let folder: string;
let discovery: CrashingProgram;

const targets = () => ({
  identity,
  serverName: SERVER_NAME,
  addresses: Object.fromEntries([...running].map(([serialNumber, { agent }]) => [serialNumber, agent.address])),
});
const agents = remoteAgents(targets);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bowline-canary-'));
  use({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) });
  authority = await testAuthority();
  identity = await testIdentity(authority, MANAGER_NAME, 'client');
  for (const serialNumber of ['S1', 'S2']) {
    const device = use(await leakyDevice(serialNumber));
    running.set(serialNumber, { device, agent: await startAgent(device, authority) });
  }
  const operators = [hsmSecretsWith({ agents }), leaky];
  c = use(await apiCluster({ agents, operators, log, metrics, config: { perObjectMetrics: true } }));
  const { namespace, admin } = c;
  // Time passes quickly in this test, and the reports are not repeated.
  const patient = { spec: { gracePeriod: '24h' } };
  await admin.patch(HSMDevice, { namespace, name: DEVICE }, { type: 'merge', body: patient });
  await admin.create(Secret, { metadata: { namespace, name: PIN_SECRET }, data: inBase64({ pin: PIN }) });
  const pinAccess = { apiGroups: [''], resources: ['secrets'], verbs: ['update'], resourceNames: [PIN_SECRET] };
  const account = await c.account(ALL, [pinAccess]);
  token = await c.tokenOf(account);
  await admin.create(RoleBinding, {
    metadata: { namespace, name: 'cli' },
    subjects: [{ kind: 'ServiceAccount', namespace: c.managerNamespace, name: c.location.serviceAccount ?? '' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account.name },
  });
  await writeFile(join(folder, 'kubeconfig'), JSON.stringify(await c.kubeconfig('admin')));
  const host = use(await createHostTree());
  discovery = use(await startDiscovery(host));
}, 120_000);

afterAll(async () => {
  for (const { agent } of running.values()) use(agent);
  for (const each of used.reverse()) await each[Symbol.asyncDispose]();
});

function use<T extends AsyncDisposable>(each: T): T {
  used.push(each);
  return each;
}

/** startDiscovery runs discovery as the pod of the first node does. */
async function startDiscovery(host: HostTree): Promise<CrashingProgram> {
  const { namespace } = c;
  const [node = ''] = c.nodes;
  const usb = { vendorId: '20a0', productId: '4230', bus: 1, device: 1 };
  await host.plug('1-1', { ...usb, serial: 'S1', manufacturer: 'the discovery process' });
  const { metadata, spec } = await c.discoveryPod(DEVICE, node);
  const pod = metadata?.name ?? '';
  const kubeconfig = join(folder, 'discovery-kubeconfig');
  const serviceAccount = { namespace, name: spec?.serviceAccountName ?? '' };
  await writeFile(kubeconfig, JSON.stringify(await c.kubeconfig({ serviceAccount, pod })));
  const flags = {
    ...{ kubeconfig, device: DEVICE, sysfs: host.sysfs, dev: host.dev, run: host.run },
    ...{ 'health-listen': '127.0.0.1:0', 'log-level': 'debug' },
  };
  const args = Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text]);
  const program = await startCrashing({
    folder,
    args: ['hsm-secrets', 'discovery', '--test-mode', ...args],
    env: { POD_NAME: pod, POD_NAMESPACE: namespace, NODE_NAME: node },
  });
  await eventually(async () => {
    const { status } = await c.pool(DEVICE);
    const info = status?.aggregatedDevices?.map(({ deviceInfo }) => deviceInfo?.manufacturer);
    expect(info, program.output()).toContain('the discovery process');
  });
  return program;
}

/** eventually repeats a check while time passes. */
async function eventually<T>(check: () => Promise<T>): Promise<T> {
  return await vi.waitFor(async () => {
    await c.clock.advance(1_000);
    return await check();
  }, waiting);
}

/** call requests something from the API, and records the response. */
async function call(method: string, path: string, body?: unknown, bearer: string | undefined = token) {
  const reply = await c.send(method, path, { token: bearer, body });
  sources.add('responses of the API', JSON.stringify([method, path, reply.status]), reply.text);
  return reply;
}

interface Given {
  readonly hidden?: string;
  readonly stdin?: string;
}

/** command runs a command, and records what it prints. */
async function command(args: readonly string[], { hidden, stdin = '' }: Given = {}) {
  const registry = { 'hsm-secrets': { summary: 'HSM', load: () => Promise.resolve(hsmSecrets) } };
  const place = ['--kubeconfig', join(folder, 'kubeconfig'), '-n', c.managerNamespace];
  const result = await bowline(['hsm-secrets', ...args, ...place], {
    registry,
    askHidden: () => Promise.resolve(hidden === undefined ? 'no-terminal' : Buffer.from(hidden)),
    stdin: () => Readable.from([Buffer.from(stdin)]),
  });
  sources.add('output of commands', args.join(' '), result.out, result.err);
  return result;
}

/** failing records the error of a call of an agent. */
async function failing(work: Promise<unknown>, problem: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ problem });
  sources.addError(error);
}

function runningDevice(serialNumber: string): Running & { readonly service: AgentService } {
  const found = running.get(serialNumber);
  const service = agents.agentsOf({ name: DEVICE }).find((agent) => agent.serialNumber === serialNumber)?.service;
  if (!found || !service) throw new TypeError(`the test has no device ${serialNumber}`);
  return { ...found, service };
}

async function untilSynced(name: string, reason: string): Promise<void> {
  await eventually(async () => {
    const secret = await c.admin.get(HSMSecret, { namespace: c.namespace, name });
    expect(findCondition(secret, 'Synced')?.reason).toBe(reason);
  });
}

/** untilAgent waits until the pool reports a state of an agent: a reason, or undefined if it is ready. */
async function untilAgent(serialNumber: string, reason: string | undefined): Promise<void> {
  agents.announce(`${c.namespace}/${DEVICE}`);
  await eventually(async () => {
    const { status } = await c.pool(DEVICE);
    const row = status?.agents?.find((agent) => agent.serialNumber === serialNumber);
    expect([row?.ready, row?.reason]).toEqual([reason === undefined, reason]);
  });
}

async function untilWorks(serialNumber: string): Promise<void> {
  const { service } = runningDevice(serialNumber);
  await vi.waitFor(async () => expect(await service.status()).toMatchObject({ isLoggedIn: true }), waiting);
}

async function recordAgent(agent: AgentProcess): Promise<void> {
  sources.add('output of agents', agent.output());
  await sources.addFiles('files of agents', agent.folder);
}

const delivered = new Set<string>();

/** deliver creates an HSMSecret for a path, and waits for the result. */
async function deliver(name: string, path: string, reason: string, spec: object = {}): Promise<void> {
  await c.createSecret(name, { path, ...spec });
  delivered.add(name);
  await untilSynced(name, reason);
}

it('delivers, updates and mirrors values, and reports what fails', async () => {
  const { namespace, admin } = c;
  const data = inBase64({ password: VALUE });
  expect((await call('POST', 'hsm/secrets/team/db', { data })).status).toBe(201);
  expect((await call('POST', 'hsm/secrets/team/db', { data })).status).toBe(409);
  await deliver('db', 'team/db', 'Synced');
  const printed = await command(['create', 'team/db', '--from-file', 'password=-', '--replace'], { stdin: UPDATE });
  expect(printed).toMatchObject({ code: 0 });
  await eventually(async () => expect(await c.valuesOf('db')).toEqual({ password: UPDATE }));
  requested.add('responses of the API', (await c.send('GET', 'hsm/secrets/team/db', { token })).text);
  await admin.patch(Secret, { namespace, name: 'db' }, { type: 'merge', body: { data: { password: 'eA==' } } });
  await eventually(async () => expect(await c.valuesOf('db')).toEqual({ password: UPDATE }));

  await admin.create(Secret, { metadata: { namespace, name: 'foreign' }, data });
  delivered.add('foreign');
  const large = { password: Buffer.from(VALUE.repeat(23_000)) };
  await runningDevice('S1').service.write('team/large', large, {});
  const twice = ['first', 'second'].map((to) => ({ from: 'password', to }));
  await deliver('large', 'team/large', 'TooLarge', { keys: twice });
  await runningDevice('S1').service.remove('team/large', undefined);
  const [registry, keys] = ['kubernetes.io/dockerconfigjson', [{ from: 'password', to: '.dockerconfigjson' }]];
  await deliver('foreign', 'team/db', 'ForeignSecret');
  await deliver('none', 'team/none', 'NotFound');
  await deliver('forbidden', 'team/db', 'WriteRefused');
  await deliver('invalid', 'team/db', 'WriteRefused');
  await deliver('registry', 'team/db', 'WriteRefused', { secretType: registry, keys });
  await deliver('key', 'team/db', 'KeyInvalid', { keys: [{ from: 'none', to: 'none' }] });

  await runningDevice('S2').service.write('team/db', { password: Buffer.from(VALUE) }, {}, { version: 1 });
  expect((await call('POST', 'hsm/mirror/sync', { force: true })).status).toBe(200);
  expect((await command(['mirror', 'sync', '--force'])).code).toBe(0);
  expect((await runningDevice('S2').service.read('team/db')).data).toEqual({ password: Buffer.from(UPDATE) });
}, 90_000);

it('rejects what agents, the API and commands cannot do', async () => {
  const { service } = runningDevice('S1');
  const value = Buffer.from(VALUE);
  await failing(service.write('team/db', { password: value }, {}, { replaces: 77 }), 'VersionMismatch');
  await failing(service.write('team/db', { 'a key': value }, {}), 'Invalid');
  await failing(service.write('team/db', { password: Buffer.from(VALUE.repeat(50_000)) }, {}), 'Invalid');
  await failing(service.write('team/db', { password: Buffer.from(VALUE.repeat(200_000)) }, {}), 'Invalid');
  await failing(service.changePin(Buffer.from(PIN.repeat(20))), 'Invalid');
  await failing(service.provePin(value.subarray(0, 5)), 'Invalid');
  for (const [method, path, body] of [
    ['POST', 'a', `{"data": {"a": "${VALUE}`],
    ['POST', 'a', `{"data": {"a": "YQ=="}, "${UPDATE}`],
    ['POST', 'a', { data: { a: VALUE } }],
    ['POST', 'a', { data: { a: 1, b: inBase64({ a: VALUE }) } }],
    ['POST', 'a', { data: inBase64({ a: VALUE }), other: VALUE }],
    ['POST', 'a', { data: { 'a/b': inBase64({ a: VALUE }).a } }],
    ['PUT', 'team/db', { data: inBase64({ a: VALUE }), replaces: 77 }],
    ['PUT', 'team/none', { data: inBase64({ a: VALUE }) }],
    ['POST', 'large', { data: inBase64({ a: VALUE.repeat(45_000) }) }],
    ['POST', 'large', { data: inBase64({ a: VALUE.repeat(90_000) }) }],
    ['DELETE', 'team/none', undefined],
  ] as const) {
    expect((await call(method, `hsm/secrets/${path}`, body)).status, `${method} ${path}`).toBeGreaterThanOrEqual(400);
  }
  for (const body of [{ newPin: PIN.repeat(20) }, { newPin: `${PIN}\n` }, { pin: PIN }, `{"newPin": "${PIN}`])
    expect((await call('POST', 'hsm/change-pin', body)).status).toBe(400);
  expect((await call('GET', 'hsm/secrets/team/db', undefined, VALUE)).status).toBe(401);
  expect((await call('POST', 'auth/token', { token: VALUE })).status).toBe(410);
  const stdin = `{"a": "${VALUE}`;
  for (const args of [
    ['create', 'a', '--from-json-file', '-'],
    ['create', 'a', '--from-file', 'a/b=-'],
    ['create', 'team/db', '--from-file', 'a=-'],
    ['rotate-pin', '--pin-file', '/nonexistent'],
    ['get', 'team/none'],
  ])
    expect((await command(args, { stdin })).code, args.join(' ')).toBeGreaterThan(0);
  for (const args of [['get', 'team/db'], ['list'], ['devices'], ['health'], ['create', 'b', '--from-file', 'a=-']])
    expect((await command([...args, ...(args[0] === 'create' ? ['--dry-run'] : [])], { stdin })).code).toBe(0);
}, 60_000);

it('survives workers that crash and modules that fail', async () => {
  for (const { agent } of running.values()) {
    await sources.addProcess('agents', agent.pid);
    const [worker = 0] = await childrenOf(agent.pid);
    expect(await readFile(`/proc/${worker}/coredump_filter`, 'utf8')).toBe('00000000\n');
    expect(await readFile(`/proc/${worker}/limits`, 'utf8')).toMatch(/Max core file size +0 /);
  }
  const crash = async (serialNumber: string, how: Behaviour | NodeJS.Signals): Promise<void> => {
    await untilWorks(serialNumber);
    const { device, agent, service } = runningDevice(serialNumber);
    const [worker = 0] = await childrenOf(agent.pid);
    if (how.startsWith('SIG')) process.kill(worker, how);
    else {
      await device.misbehave(how as Behaviour);
      await service.read('team/db').catch((error: unknown) => sources.addError(error));
    }
    if (how === 'throws') return;
    await vi.waitFor(async () => expect(await childrenOf(agent.pid)).not.toContain(worker), waiting);
    // The manager meets an agent without a worker.
    for (const path of ['hsm/secrets/team/db/metadata', 'hsm/status']) await call('GET', path);
    await call('PUT', 'hsm/secrets/team/db', { data: inBase64({ password: VALUE }) });
    await service.read('team/db').catch((error: unknown) => sources.addError(error));
    await sources.addProcess('agents', agent.pid);
  };
  const all = async (serialNumber: string, ways: readonly (Behaviour | NodeJS.Signals)[]): Promise<void> => {
    for (const how of ways) await crash(serialNumber, how);
    await untilWorks(serialNumber);
  };
  await Promise.all([
    all('S1', ['throws', 'throws later', 'SIGKILL', 'aborts']),
    all('S2', ['throws', 'rejects later', 'SIGSEGV']),
  ]);
  const output = [...running.values()].map(({ agent }) => agent.output()).join('\n');
  for (const sign of ['signal SIGKILL', 'signal SIGSEGV', 'signal SIGABRT', 'exit code 70', 'TypeError'])
    expect(output).toContain(sign);
  for (const { agent } of running.values()) sources.add('health of agents', await agent.health('/readyz'));
}, 90_000);

it('changes the PIN, and reports PINs that are wrong or uncertain', async () => {
  const { device, agent } = runningDevice('S2');
  // Interrupted while one device is away.
  running.delete('S2');
  expect((await call('POST', 'hsm/change-pin', { newPin: NEW_PIN })).status).toBe(206);
  expect((await call('POST', 'hsm/change-pin', { newPin: WRONG_PIN })).status).toBe(409);
  running.set('S2', { device, agent });
  expect(await command(['rotate-pin'], { hidden: NEW_PIN })).toMatchObject({ code: 0 });
  const pinSecret = await c.admin.get(Secret, { namespace: c.namespace, name: PIN_SECRET });
  expect(pinSecret.data).toEqual(inBase64({ pin: NEW_PIN }));
  for (const state of running.values()) await state.device.writePin(NEW_PIN);

  const refused = async (serialNumber: string, pin: string, reason: string, enter: boolean): Promise<void> => {
    const state = runningDevice(serialNumber);
    await state.agent.stop('SIGTERM');
    await recordAgent(state.agent);
    if (enter) await state.device.enterWrongPin();
    await state.device.writePin(pin);
    const started = startAgent(state.device, authority, { until: reason });
    running.set(serialNumber, { device: state.device, agent: await started });
    await untilAgent(serialNumber, reason);
    expect((await call('GET', 'hsm/status')).text).toContain(reason);
    sources.add('health of agents', await runningDevice(serialNumber).agent.health('/readyz'));
    await failing(runningDevice(serialNumber).service.read('team/db'), reason);
    await failing(runningDevice(serialNumber).service.changePin(Buffer.from(WRONG_PIN)), reason);
    expect((await command(['rotate-pin'], { hidden: NEW_PIN })).err).toContain(`not ${serialNumber}`);
  };
  await refused('S1', WRONG_PIN, 'PINIncorrect', false);
  await call('POST', 'hsm/retry-pin', {});
  await runningDevice('S1').device.writePin(NEW_PIN);
  await untilWorks('S1');
  await untilAgent('S1', undefined);
  await refused('S2', WRONG_PIN, 'PINUncertain', true);
  await runningDevice('S2').device.writePin(NEW_PIN);
  expect((await command(['retry-pin'])).code).toBe(0);
  await untilAgent('S2', undefined);
  await c.untilEvent(`${DEVICE}-pool`, 'PINUnavailable', 'PINIncorrect');
}, 90_000);

it('crashes: agents, discovery and the manager', async () => {
  await sources.addProcess('discovery', discovery.pid);
  sources.add('crash of discovery', await discovery.crash());
  const { device, agent } = runningDevice('S2');
  const crashed = await agent.crash();
  sources.add('crash of an agent', crashed);
  await recordAgent(agent);
  running.set('S2', { device, agent: await startAgent(device, authority) });
  await c.stop();

  const accounts = await c.admin.list(ServiceAccount, { namespace: c.managerNamespace });
  const account = accounts.items.find(({ metadata }) => metadata?.name?.startsWith('hsm-secrets-'))?.metadata?.name;
  const identityOf = { serviceAccount: { namespace: c.managerNamespace, name: account ?? '' } };
  await writeFile(join(folder, 'manager-kubeconfig'), JSON.stringify(await c.kubeconfig(identityOf)));
  await writeFile(join(folder, 'agents.json'), JSON.stringify(targets()));
  const config = { operators: ['hsm-secrets'], 'hsm-secrets': { allowUnguardedReports: true } };
  await writeFile(join(folder, 'bowline.yaml'), JSON.stringify(config));
  const flags = {
    ...{ config: join(folder, 'bowline.yaml'), kubeconfig: join(folder, 'manager-kubeconfig') },
    ...{ namespace: c.managerNamespace, namespaces: c.namespace, 'log-level': 'debug' },
    ...{ 'health-address': '0', 'metrics-address': '0' },
  };
  await using manager = await startCrashing({
    folder,
    entry: 'operators/hsm-secrets/src/scenarios/canary-manager.test-support.ts',
    args: ['run', ...Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text])],
    env: { [AGENTS_FILE]: join(folder, 'agents.json') },
  });
  await c.createSecret('crash', { path: 'team/db' });
  delivered.add('crash');
  await vi.waitFor(async () => {
    expect(await c.valuesOf('crash'), manager.output().slice(-2_000)).toEqual({ password: VALUE });
  }, waiting);
  await sources.addProcess('the manager', manager.pid);
  const ended = await manager.crash();
  sources.add('crash of the manager', ended);
  for (const text of [crashed, ended])
    for (const sign of ['Error: a crash on purpose', '"javascriptStack"']) expect(text).toContain(sign);
}, 90_000);

/** collect adds everything that is found in the cluster and in files. */
async function collect(): Promise<void> {
  const kinds = [
    ...[HSMDevice, HSMPool, HSMSecret, Event, Pod, ReplicaSet, Deployment, DaemonSet],
    ...[ConfigMap, ServiceAccount, RoleBinding, NetworkPolicy],
  ] as const;
  for (const namespace of [c.namespace, c.managerNamespace]) {
    for (const kind of kinds) {
      const { items } = await c.admin.list<object>(kind, { namespace });
      sources.add(`objects: ${kind.kind}`, ...items.map((item) => JSON.stringify(item)));
    }
    const { items } = await c.admin.list(Secret, { namespace });
    for (const { data, ...secret } of items) {
      const name = secret.metadata?.name ?? '';
      const isAllowed = name === PIN_SECRET || delivered.has(name);
      sources.add('objects: Secret', JSON.stringify(isAllowed ? secret : { ...secret, data }));
    }
  }
  const users = [c.managerNamespace, c.namespace].map((namespace) => `system:serviceaccount:${namespace}:`);
  const audited = (await c.controlPlane.audit(startedAt)).filter(
    ({ user, objectRef }) =>
      users.some((prefix) => user.username?.startsWith(prefix)) && objectRef?.resource !== 'secrets',
  );
  sources.add('audit log', ...audited.map((event) => JSON.stringify(event)));
  sources.add('metrics', await metrics.render());
  sources.add('state of the manager', JSON.stringify(c.manager.status()));
  for (const { device, agent } of running.values()) {
    await recordAgent(agent);
    await sources.addFiles('state of agents', device.folder, device.secretFiles);
  }
  await sources.addFiles('files of processes', folder);
}

/** What is searched, besides the objects of each kind. */
const SOURCES = [
  ...['agents', 'discovery', 'the manager'].flatMap((each) => [`arguments of ${each}`, `environment of ${each}`]),
  ...['crash of an agent', 'crash of discovery', 'crash of the manager'],
  ...['log of the manager', 'state of the manager', 'metrics', 'audit log'],
  ...['output of agents', 'health of agents', 'state of agents', 'files of agents', 'files of processes'],
  ...['responses of the API', 'output of commands', 'thrown errors'],
  ...['objects: Secret', 'objects: Event', 'objects: HSMDevice', 'objects: HSMPool', 'objects: HSMSecret'],
];

it('finds no value and no PIN anywhere but in the Secrets that hold them', async () => {
  await collect();
  for (const source of SOURCES) expect(sources.texts.get(source)?.length, source).toBeGreaterThan(0);
  expect(sources.leaks()).toEqual({});
});

it('finds a value wherever it is planted', async () => {
  const { namespace, admin } = c;
  expect(Object.keys(requested.leaks())).toEqual(['responses of the API']);
  sources = newSources();
  log.info('planted', { value: { nested: VALUE } });
  metrics.gauge({ name: 'planted', help: 'A test.', labels: ['value'] }).set(1, { value: UPDATE });
  sources.addError(new Error('failed', { cause: Object.assign(new Error('it failed'), { pin: Buffer.from(PIN) }) }));
  const annotated = { metadata: { annotations: { planted: Buffer.from(PIN).toString('base64url') } } };
  for (const [kind, name] of [
    [HSMDevice, DEVICE],
    [HSMPool, `${DEVICE}-pool`],
    [HSMSecret, 'db'],
    [Secret, 'db'],
  ] as const)
    await admin.patch<object>(kind, { namespace, name }, { type: 'merge', body: annotated });
  await admin.create(Event, {
    metadata: { namespace, name: 'planted' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    ...{ reason: 'Planted', action: 'Plant', type: 'Normal', note: `the PIN ${NEW_PIN}` },
    ...{ reportingController: 'example.test/test', reportingInstance: 'test' },
    regarding: { apiVersion: 'v1', kind: 'Secret', namespace, name: 'db' },
  });
  await admin.create(ConfigMap, { metadata: { namespace, name: 'planted' }, data: { value: VALUE } });
  const { client } = await c.serviceAccount();
  await expect(client.list(ConfigMap, { namespace, labelSelector: `planted=${PIN.slice(0, 14)}` })).rejects.toThrow();
  const { device, agent } = runningDevice('S1');
  await writeFile(join(agent.folder, 'core'), VALUE);
  await writeFile(join(device.folder, 'state', 'more'), WRONG_PIN);
  await writeFile(join(folder, 'report.json'), JSON.stringify(JSON.stringify(VALUE)));
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)', VALUE], { env: { PLANTED: PIN } });
  await once(child, 'spawn');
  await sources.addProcess('a process', child.pid ?? 0);
  child.kill('SIGKILL');
  await collect();
  expect(Object.keys(sources.leaks()).sort()).toEqual([
    ...['arguments of a process', 'audit log', 'environment of a process', 'files of agents', 'files of processes'],
    ...['log of the manager', 'metrics', 'objects: ConfigMap', 'objects: Event', 'objects: HSMDevice'],
    ...['objects: HSMPool', 'objects: HSMSecret', 'objects: Secret', 'state of agents', 'thrown errors'],
  ]);
});
