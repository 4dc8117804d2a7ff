import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap, type KubernetesObject, Pod, type Resource, Secret, StatefulSet } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/core-v1';
import { admit, defineOperator, deny, validating } from '@bowline/runtime';
import { createLog, createMetrics } from '@bowline/runtime/manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCrashing } from '../../../../test/support/crashing-program.ts';
import { LeakSources } from '../../../../test/support/leak-sources.ts';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { SERVER } from '../spire/names.ts';
import { COMPLETE, OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { CHILD_KINDS } from './child-kinds.test-support.ts';
import { FIVE, KEY, start } from './deletion.test-support.ts';

const CANARIES = {
  connection: 'canary-connection-Zq7-horse',
  password: 'canary-password-Kd2-staple',
  key: 'canary-private-key-Rw4-battery',
};
const FILE = { namespace: OPERANDS, name: SERVER };
const PASSWORD = { namespace: OPERANDS, name: 'database' };
const TLS = { namespace: OPERANDS, name: 'database-tls' };
/** What SPIRE replaces with the password. */
const REFERENCE = '$' + '{SPIRE_DB_PASSWORD}';
const connectionString = `postgres://spire:${CANARIES.connection}@db.example.io/spire`;

/** leaky denies the file with the connection string, and quotes it. */
let isDenying = false;
const leaky = defineOperator({
  name: 'tattling',
  domain: 'example.com',
  controllers: [],
  webhooks: [
    validating(ConfigMap, { name: 'tattling', operations: ['CREATE', 'UPDATE'] }).handle(({ object }) =>
      isDenying && object.metadata?.name === SERVER ? deny(`no ${JSON.stringify(object.data)}`) : admit(),
    ),
  ],
});

const startedAt = Date.now();
const sources = new LeakSources(Object.values(CANARIES));
const metrics = createMetrics({ process: false });
const log = createLog({ level: 'debug', destination: { write: (line) => sources.add('log', line) } });
let folder: string;
let c: ZtwimCluster;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bowline-canary-'));
  c = await ztwimCluster({ others: [leaky], log, metrics, leaderElection: false });
  await start(c);
});
afterAll(async () => {
  await c[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const inBase64 = (value: string): string => Buffer.from(value).toString('base64');

async function change(spec: object): Promise<void> {
  // Workloads are changed at most twice a second.
  await c.clock.advance(500);
  await c.changeSpec(SpireServer, spec);
}

/** list adds all objects of a kind, as they are or without a part that holds values by design. */
async function list(kind: Resource<KubernetesObject>, without: (object: KubernetesObject) => unknown = (each) => each) {
  const { items } = await c.admin.list(kind, kind.scope === 'Namespaced' ? { namespace: OPERANDS } : {});
  sources.add(kind.kind, ...items.map((object) => JSON.stringify(without(object))));
}

async function collect(): Promise<void> {
  const withoutData = ({ data: _, ...others }: KubernetesObject & { readonly data?: unknown }) => others;
  const withoutSpec = ({ spec: _, ...others }: KubernetesObject & { readonly spec?: unknown }) => others;
  const isFile = ({ metadata }: KubernetesObject): boolean => metadata?.name === SERVER;
  for (const kind of [...CHILD_KINDS, Pod as Resource<KubernetesObject>]) {
    await list(kind, (object) => (kind.kind === 'ConfigMap' && isFile(object) ? withoutData(object) : object));
  }
  for (const kind of FIVE) await list(kind, withoutSpec);
  await list(Secret, (object) => withoutData(object));
  for (const namespace of ['default', OPERANDS, c.managerNamespace]) {
    const { items } = await c.admin.list(Event, { namespace });
    sources.add('Event', ...items.map((event) => JSON.stringify(event)));
  }
  const account = `system:serviceaccount:${c.managerNamespace}:`;
  // The API server records what the webhook above said about the file.
  const requests = (await c.controlPlane.audit(startedAt)).filter(
    ({ user, objectRef }) => user.username?.startsWith(account) && objectRef?.resource !== 'configmaps',
  );
  sources.add('audit log', ...requests.map((event) => JSON.stringify(event)));
  sources.add('metrics', await metrics.render());
  sources.add('state of the manager', JSON.stringify(c.manager.status()));
}

describe('connection strings, passwords and keys', () => {
  it('scenario 51 are used, also where that fails', async () => {
    const datastore = { databaseType: 'postgres', connectionString };
    const withPassword = {
      ...datastore,
      connectionString: `${connectionString}?x=${REFERENCE}`,
      passwordSecretRef: { name: PASSWORD.name, key: 'password' },
      tlsSecretName: TLS.name,
    };
    isDenying = true;
    await change({ datastore });
    await c.untilReason(SpireServer, 'ServerConfigMapAvailable', 'Failed');
    isDenying = false;
    // The operator does not try again at once.
    await c.clock.advance(60_000);
    await c.until(ConfigMap, FILE, ({ data }) => JSON.stringify(data).includes(CANARIES.connection));
    await c.untilReason(SpireServer, 'Ready', 'Ready');
    await change({ datastore: withPassword });
    await c.untilReason(SpireServer, 'ConfigurationValid', 'SecretMissing');
    await c.admin.create(Secret, { metadata: TLS, data: { 'tls.key': inBase64(CANARIES.key) } });
    await c.admin.create(Secret, { metadata: PASSWORD, data: { other: inBase64(CANARIES.password) } });
    await c.untilReason(SpireServer, 'ConfigurationValid', 'SecretMissing');
    const body = { data: { password: inBase64(CANARIES.password) } };
    await c.admin.patch(Secret, PASSWORD, { type: 'merge', body });
    await c.until(StatefulSet, FILE, ({ spec }) => JSON.stringify(spec).includes('SPIRE_DB_PASSWORD'));

    await change({ tolerations: [{ key: 'not a key', operator: 'Exists' }] });
    await c.untilReason(SpireServer, 'Ready', 'InvalidTolerations');
    await change({ tolerations: null });
    const parent = { trustDomain: 'other.io' };
    await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: parent } });
    await c.untilReason(SpireServer, 'ConfigurationValid', 'DatastoreHold');
    const back = { trustDomain: COMPLETE.trustDomain };
    await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: back } });
    await c.until(SpireServer, KEY, ({ spec }) => spec.trustDomain === COMPLETE.trustDomain);
    await c.untilReason(SpireServer, 'Ready', 'Ready');
    sources.addError(await refusalOf(change({ trustDomain: 'other.io' })));
  });

  it('scenario 51 are in no crash', async () => {
    await c.stop();
    await c.admin.patch(ConfigMap, FILE, { type: 'merge', body: { data: { 'server.conf': 'edited' } } });
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(await c.kubeconfig('admin')));
    await writeFile(join(folder, 'bowline.yaml'), JSON.stringify({ operators: ['ztwim'] }));
    const flags = {
      ...{ config: join(folder, 'bowline.yaml'), kubeconfig: join(folder, 'kubeconfig'), 'log-level': 'debug' },
      ...{ namespace: c.managerNamespace, 'health-address': '0', 'metrics-address': '0' },
    };
    const args = Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text]);
    await using manager = await startCrashing({ folder, args: ['run', ...args] });
    await c.until(ConfigMap, FILE, ({ data }) => data?.['server.conf'] !== 'edited');
    await sources.addProcess('the manager', manager.pid);
    const ended = await manager.crash();
    expect(ended).toContain('Error: a crash on purpose');
    sources.add('crash', ended);
  });

  it('scenario 51 appear only where they belong', async () => {
    await collect();
    const searched = ['log', 'crash', 'audit log', 'metrics', 'state of the manager', 'thrown errors', 'Event'];
    for (const source of [...searched, 'SpireServer', 'ConfigMap', 'StatefulSet', 'Pod', 'Secret']) {
      expect(sources.texts.get(source)?.length, source).toBeGreaterThan(0);
    }
    expect(sources.leaks()).toEqual({});
  });

  it('scenario 51 are found wherever they are planted', async () => {
    log.info('planted', { value: { nested: connectionString } });
    metrics.gauge({ name: 'planted', help: 'A test.', labels: ['value'] }).set(1, { value: CANARIES.password });
    const annotations = { planted: inBase64(CANARIES.key) };
    await c.admin.patch(SpireServer, KEY, { type: 'merge', body: { metadata: { annotations } } });
    await collect();
    expect(Object.keys(sources.leaks()).sort()).toEqual(['SpireServer', 'log', 'metrics']);
  });
});
