import { ConfigMap, DaemonSet, Deployment, type KubernetesObject, StatefulSet } from '@bowline/kubernetes';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFiles } from '../../../../apps/bowline/src/testing/child-process.test-support.ts';
import { bowline } from '../../../../apps/bowline/src/testing/test-operators.test-support.ts';
import type { MigrationPhase } from '../api/migration-phases.ts';
import { ANNOTATIONS } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { BACKUP } from '../migration/backup.ts';
import { ztwim } from '../operator.ts';
import { KilledProcess } from '../testing/killed-process.test-support.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { FIVE, KEY, untilEvent } from './deletion.test-support.ts';
import { removeWebhooks } from './remove-webhooks.test-support.ts';

const PASSWORD = 'canary-in-a-connection-string';
const VALUES = { trustDomain: 'legacy.io', clusterName: 'old', bundleConfigMap: 'legacy-bundle' };
const ISSUER = { jwtIssuer: 'https://oidc.legacy.io' };
const DATABASE = { databaseType: 'postgres', connectionString: `postgres://spire:${PASSWORD}@db/spire` };

const process = new KilledProcess();
/** Shared by the tests, which each start from a migrated install or from one that is not. After a failure it is replaced. */
let c: ZtwimCluster;
let isUsable = false;
/** The specs before and after the migration. */
let legacy: readonly unknown[];
let migrated: readonly unknown[] | undefined;
let kubeconfig: string;
const nothing = (): Promise<void> => Promise.resolve();
let dispose = nothing;

beforeEach(async ({ onTestFailed }) => {
  if (!isUsable) {
    await stop();
    await start();
  }
  isUsable = true;
  onTestFailed(() => {
    isUsable = false;
  });
});
afterAll(stop);

/** start starts an install that is not migrated. */
async function start(): Promise<void> {
  process.limit();
  c = await ztwimCluster({ leaderElection: false, wrapClient: (client) => process.through(client) });
  dispose = async () => c[Symbol.asyncDispose]();
  await c.createOne(SpireServer, { ...VALUES, ...ISSUER, datastore: DATABASE });
  await c.createOne(SpireAgent, { trustDomain: VALUES.trustDomain, clusterName: VALUES.clusterName });
  await c.createOne(SpiffeCSIDriver);
  await c.createOne(SpireOIDCDiscoveryProvider, ISSUER);
  const metadata = { name: KEY.name, annotations: { [ANNOTATIONS.migration]: 'disabled' } };
  await c.admin.create(ZeroTrustWorkloadIdentityManager, { metadata, spec: {} });
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  await untilPhase('Disabled');
  await settle();
  legacy = await specs();
  const files = await temporaryFiles();
  c.onDispose(async () => files[Symbol.asyncDispose]());
  kubeconfig = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
}

async function stop(): Promise<void> {
  const last = dispose;
  dispose = nothing;
  await last();
}

/** isMigrated reports whether the values are moved. */
async function isMigrated(): Promise<boolean> {
  const { spec } = await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY);
  return spec.trustDomain !== undefined;
}

/** startMigrated starts from a migrated install. */
async function startMigrated(): Promise<void> {
  if (!(await isMigrated())) await bring('run');
  migrated = await specs();
}

/** startLegacy starts from an install that is not migrated, but whose specs after a migration are known. */
async function startLegacy(): Promise<void> {
  if (migrated === undefined) await startMigrated();
  if (await isMigrated()) await bring('rollback');
}

/** bring migrates, or rolls back, before a test. The test gets a new process, which may report as many events as any. */
async function bring(action: 'run' | 'rollback'): Promise<void> {
  expect(await migrate(action, '--yes')).toMatchObject({ code: 0 });
  await settle();
  await c.restart();
  await settle();
}

/** migrate runs the command, and returns its result and its data. */
async function migrate(...args: readonly string[]) {
  const registry = { ztwim: { summary: 'SPIRE', load: () => Promise.resolve(ztwim) } };
  const running = bowline(['ztwim', 'migrate', ...args, '--kubeconfig', kubeconfig, '-o', 'json'], { registry });
  // It waits for the operator.
  const { code, out: stdout, err: stderr } = await c.during(running);
  return { code, stderr, data: stdout === '' ? undefined : (JSON.parse(stdout) as unknown) };
}

/** control sets the annotation of the migration. */
async function control(value: string | null): Promise<void> {
  const body = { metadata: { annotations: { [ANNOTATIONS.migration]: value } } };
  await c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body });
}

async function untilPhase(phase: MigrationPhase): Promise<ZeroTrustWorkloadIdentityManager> {
  return await c.until(
    ZeroTrustWorkloadIdentityManager,
    KEY,
    ({ status }) => status?.migration?.phase === phase && hasCondition(status.conditions, phase),
  );
}

function hasCondition(conditions: readonly { type: string; reason: string }[] | undefined, phase: string): boolean {
  return conditions?.some(({ type, reason }) => type === 'MigrationComplete' && reason === phase) === true;
}

/** settle waits until the operator has written everything, also events that it records with a delay. */
async function settle(): Promise<void> {
  await c.advanceTime(5_000, 1_000);
  await c.idle();
}

/** specs returns the specs of the five objects, and which of their values are inherited. */
async function specs(): Promise<readonly unknown[]> {
  const objects = await Promise.all(FIVE.map((kind) => c.admin.get<KubernetesObject & { spec?: unknown }>(kind, KEY)));
  return objects.map(({ spec, metadata }) => ({ spec, inherited: metadata?.annotations?.[ANNOTATIONS.inherited] }));
}

/** templates returns the generations of the workloads: a changed template is a new generation. */
async function templates(): Promise<readonly unknown[]> {
  const inNamespace = { namespace: OPERANDS };
  const lists = await Promise.all([
    c.admin.list<KubernetesObject>(StatefulSet, inNamespace),
    c.admin.list<KubernetesObject>(DaemonSet, inNamespace),
    c.admin.list<KubernetesObject>(Deployment, inNamespace),
  ]);
  return lists.flatMap(({ items }) =>
    items.map(({ metadata }) => [metadata?.name, metadata?.uid, metadata?.generation]),
  );
}

const ofFive = (writes: readonly string[]): readonly string[] =>
  writes.filter((write) => / (?:zero|spire|spiffe)/.test(write) && !write.includes('/status'));

describe('the migration of an install whose operands have the values', () => {
  it('scenario 43 first shows a plan, and writes nothing', async () => {
    const since = Date.now();
    await control('plan');
    const { status } = await untilPhase('Planned');
    await settle();
    expect(status?.migration?.plan).toEqual([
      planned('trustDomain', 'set ZeroTrustWorkloadIdentityManager.spec.trustDomain'),
      planned('trustDomain', 'mark SpireServer.spec.trustDomain as inherited'),
      planned('trustDomain', 'mark SpireAgent.spec.trustDomain as inherited'),
      planned('trustDomain', 'set SpireOIDCDiscoveryProvider.spec.trustDomain'),
      planned('clusterName', 'set ZeroTrustWorkloadIdentityManager.spec.clusterName'),
      planned('clusterName', 'mark SpireServer.spec.clusterName as inherited'),
      planned('clusterName', 'mark SpireAgent.spec.clusterName as inherited'),
      planned('bundleConfigMap', 'set ZeroTrustWorkloadIdentityManager.spec.bundleConfigMap'),
      planned('bundleConfigMap', 'mark SpireServer.spec.bundleConfigMap as inherited'),
      planned('bundleConfigMap', 'set SpireAgent.spec.bundleConfigMap'),
    ]);
    expect(await migrate('plan')).toMatchObject({ code: 0, data: status?.migration?.plan });
    expect(await specs()).toEqual(legacy);
    const writes = (await c.writes(since)).filter((write) => !/ events| zerotrust\S*\/status/.test(write));
    expect(writes).toEqual([]);
  });

  it('scenario 43 moves the values, links the operands, changes no template, and does nothing twice', async () => {
    const before = await templates();
    await control(null);
    const { spec, status } = await untilPhase('Completed');
    expect(spec).toMatchObject(VALUES);
    expect(spec.jwtIssuer).toBeUndefined();
    expect(status?.migration?.backup).toBe(BACKUP);
    expect(status?.effectiveConfig?.sources).toMatchObject({ trustDomain: 'ZTWIM', jwtIssuer: 'Operand' });
    expect((await c.admin.get(SpireAgent, KEY)).spec).toMatchObject(VALUES);
    await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'MigrationCompleted');
    await settle();
    migrated = await specs();

    const { data = {} } = await c.admin.get(ConfigMap, { namespace: OPERANDS, name: BACKUP });
    expect(Object.keys(data).sort()).toEqual(FIVE.map(({ kind }) => kind).sort());
    const { uid, spec: saved } = JSON.parse(data.SpireServer ?? '');
    expect(uid).toBe((await c.admin.get(SpireServer, KEY)).metadata?.uid);
    expect(saved).toMatchObject({ ...VALUES, datastore: { databaseType: 'postgres' } });
    expect(JSON.stringify(data)).not.toContain(PASSWORD);

    const since = Date.now();
    await control('run');
    await settle();
    await c.restart();
    await settle();
    expect(ofFive(await c.writes(since))).toEqual([]);
    expect(await templates()).toEqual(before);
  });

  it('scenario 45 is rolled back byte for byte, and stays so', async () => {
    await startMigrated();
    const before = await templates();
    const result = await migrate('rollback', '--yes');
    expect(result).toMatchObject({ code: 0, data: { phase: 'RolledBack', backup: BACKUP } });
    expect(await specs()).toEqual(legacy);
    await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'MigrationRolledBack');
    await control(null);
    await settle();
    await c.restart();
    await settle();
    await untilPhase('RolledBack');
    expect(await specs()).toEqual(legacy);
    expect(await templates()).toEqual(before);
  });

  it('scenario 45 keeps what users have changed since, and refuses to change values in use', async () => {
    await startLegacy();
    expect(await migrate('run', '--yes')).toMatchObject({ code: 0, data: { phase: 'Completed', backup: BACKUP } });
    const patch = (spec: object) => c.admin.patch(SpireAgent, KEY, { type: 'merge', body: { spec } });
    await patch({ logLevel: 'debug' });
    const change = (clusterName: string) =>
      c.admin.patch(ZeroTrustWorkloadIdentityManager, KEY, { type: 'merge', body: { spec: { clusterName } } });
    await change('new');
    await control('rollback');
    const { status, spec } = await untilPhase('Failed');
    expect(status?.migration?.reason).toContain('clusterName would change from "new" to "old"');
    expect(spec.trustDomain).toBe(VALUES.trustDomain);
    await change(VALUES.clusterName);
    await untilPhase('RolledBack');
    expect((await c.admin.get(SpireAgent, KEY)).spec.logLevel).toBe('debug');
    await patch({ logLevel: 'info' });
    await settle();
    expect(await specs()).toEqual(legacy);
  });

  it('scenario 46 has the same result if the operator is killed after every write of it, and every other of its rollback', async () => {
    await startLegacy();
    const before = await templates();
    const backup = { namespace: OPERANDS, name: BACKUP };
    if (await c.admin.find(ConfigMap, backup)) await c.admin.delete(ConfigMap, backup);
    for (const [value, phase, result, writes] of [
      ['run', 'Completed', migrated, 1],
      ['rollback', 'RolledBack', legacy, 2],
    ] as const) {
      process.limit(writes);
      await control(value);
      expect(await livesUntil(phase, writes)).toBeGreaterThan(4 / writes);
      await settle();
      expect(await specs()).toEqual(result);
    }
    expect(await templates()).toEqual(before);
  });

  it('scenario 44 lists values that disagree, and changes nothing', async () => {
    await startLegacy();
    await removeWebhooks(c);
    const body = { spec: { trustDomain: 'other.io' } };
    const isAccepted = () =>
      c.admin.patch(SpireAgent, KEY, { type: 'merge', body }).then(
        () => true,
        () => false,
      );
    await expect.poll(isAccepted).toBe(true);
    const before = await specs();
    const workloads = await templates();
    await control('run');
    const { status } = await untilPhase('Conflict');
    expect(status?.migration?.reason).toBe(
      'SpireAgent.spec.trustDomain is "other.io", but SpireServer.spec.trustDomain is "legacy.io"; remove the field from the SpireAgent, or set both to the same value',
    );
    await settle();
    for (const action of ['plan', 'run']) {
      const { code, stderr } = await migrate(action);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('different values of trustDomain') });
    }
    expect(await specs()).toEqual(before);
    expect(await templates()).toEqual(workloads);
    expect(status?.conflicts).toMatchObject([{ field: 'trustDomain', kind: 'SpireAgent' }]);
    await untilEvent(c, 'ZeroTrustWorkloadIdentityManager', 'MigrationConflict', '"other.io"');
  });

  it('scenario 43 creates the ZeroTrustWorkloadIdentityManager if the user confirms', async () => {
    await c.admin.patch(SpireAgent, KEY, { type: 'merge', body: { spec: { trustDomain: VALUES.trustDomain } } });
    await c.admin.delete(ZeroTrustWorkloadIdentityManager, KEY, { propagationPolicy: 'Orphan' });
    await c.untilRemoved(ZeroTrustWorkloadIdentityManager);
    const refused = await migrate('run');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('pass --yes') });
    expect(refused.stderr).toContain('create ZeroTrustWorkloadIdentityManager cluster');
    expect(await c.admin.find(ZeroTrustWorkloadIdentityManager, KEY)).toBeUndefined();
    expect(await migrate('run', '--yes')).toMatchObject({ code: 0, data: { phase: 'Completed' } });
    expect((await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY)).spec).toMatchObject(VALUES);
  });
});

/** livesUntil kills the operator after each few writes, until a phase is reached. It returns how often it ran. */
async function livesUntil(phase: MigrationPhase, writes: number): Promise<number> {
  const isReached = async () =>
    (await c.admin.get(ZeroTrustWorkloadIdentityManager, KEY)).status?.migration?.phase === phase;
  const isOver = async () => {
    // Retries are due at some time.
    await c.clock.advance(250);
    return process.isKilled || (await isReached());
  };
  for (let lives = 1; ; lives += 1) {
    await expect.poll(isOver, { timeout: 60_000, interval: 50 }).toBe(true);
    const isEnd = await isReached();
    await c.stop();
    process.limit(isEnd ? undefined : writes);
    using _ = process.hold();
    await c.restart();
    if (isEnd) return lives;
  }
}

function planned(field: keyof typeof VALUES, write: string): object {
  return { field, source: 'SpireServer', value: VALUES[field], write };
}
