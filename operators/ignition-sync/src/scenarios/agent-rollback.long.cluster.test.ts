import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startS3Server } from '../snapshots/s3-server.test-support.ts';
import { AgentClock, advancing } from './agent-channel.test-support.ts';
import { type AgentRig, agentRig, FIRST } from './agent-rig.test-support.ts';

const VIEW = 'projects/overview/view/view.json';
const SECOND = { [`services/site/${VIEW}`]: '{"version": 2}', 'services/site/projects/mixer/project.json': '{}' };
const SNAPSHOTS = { enabled: true } as const;
const SCANS = '/data/api/v1/scan/**';

const synced =
  (commit: string) => (report: { readonly syncStatus: string; readonly syncedCommit?: string | undefined }) =>
    report.syncStatus === 'Synced' && report.syncedCommit === commit;

/** A gateway at its first commit, and the second commit in the repository. */
async function twoCommits(rig: AgentRig, spec: object): Promise<{ readonly first: string; readonly second: string }> {
  const first = await rig.commit(FIRST);
  await rig.gateway.start();
  await rig.publish(first, { spec });
  await rig.start();
  await rig.untilReport(synced(first));
  return { first, second: await rig.commit(SECOND) };
}

it('scenario 19 takes snapshots, returns to one while spec.rollback is set, and follows the ref afterwards', async () => {
  const rig = await agentRig();
  const { first, second } = await twoCommits(rig, { snapshots: SNAPSHOTS });
  const before = await rig.files();
  await rig.publish(second, { spec: { snapshots: SNAPSHOTS } });
  const { lastSnapshot } = await rig.untilReport(synced(second));
  // A second snapshot within a second has a number.
  expect(lastSnapshot?.id).toMatch(/^site-\d{8}-\d{6}(-\d+)?$/);
  expect(await rig.files()).toMatchObject({ [VIEW]: '{"version": 2}' });
  const rollback = { toSnapshot: lastSnapshot?.id ?? '' };
  const hash = await rig.publish(second, { spec: { snapshots: SNAPSHOTS, rollback } });
  expect(await rig.untilReport(synced(first))).toMatchObject({ appliedHash: hash });
  expect(Object.keys(await rig.files()).toSorted()).toEqual(Object.keys(before).toSorted());
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
  expect((await rig.untilEvent('RolledBack')).note).toContain(`is at the snapshot ${rollback.toSnapshot}`);
  expect(rig.gateway.loads[0]?.trigger).toBe('request');
  await rig.publish(second, { spec: { snapshots: SNAPSHOTS } });
  await rig.untilReport(synced(second));
  expect((await rig.files())[VIEW]).toBe('{"version": 2}');
});

it('scenario 19 keeps snapshots in S3, and stops a sync whose snapshot cannot be stored', async () => {
  await using s3 = await startS3Server('plant', 'AKIATEST');
  const storage = {
    type: 's3' as const,
    s3: { bucket: 'plant', endpoint: s3.url, credentialsSecretRef: { name: 's3' } },
  };
  const spec = { snapshots: { enabled: true, storage } };
  const secrets = { s3: { 'access-key-id': 'AKIATEST', 'secret-access-key': 'canary-secret' } };
  const rig = await agentRig({ spec, secrets });
  const first = await rig.commit(FIRST);
  await rig.gateway.start();
  await rig.publish(first, { spec });
  await using agent = await rig.start();
  await rig.untilReport(synced(first));
  const second = await rig.commit(SECOND);
  s3.fault = 503;
  await rig.publish(second, { spec });
  const failed = await rig.untilReport(({ errorReason }) => errorReason === 'SnapshotFailed');
  expect(failed.errorMessage).toContain('in the bucket plant: HTTP status 503');
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
  s3.fault = undefined;
  await rig.publish(second, { spec, metadata: { trigger: '2026-01-02T03:04:05Z' } });
  const { lastSnapshot } = await rig.untilReport(synced(second));
  const folder = `/plant/${rig.c.namespace}/plant/site`;
  expect([...s3.objects.keys()]).toContain(`${folder}/${lastSnapshot?.id}.tar.gz`);
  await rig.publish(second, {
    spec: { ...spec, rollback: { toSnapshot: lastSnapshot?.id ?? '', gateways: ['site'] } },
  });
  await rig.untilReport(synced(first));
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
  await agent.stop();
  expect(agent.output()).not.toContain('canary');
});

it('scenario 19 reports a rollback to an unknown or a damaged snapshot, and changes no file', async () => {
  const rig = await agentRig();
  const { second } = await twoCommits(rig, { snapshots: SNAPSHOTS });
  await rig.publish(second, { spec: { snapshots: SNAPSHOTS } });
  const { lastSnapshot } = await rig.untilReport(synced(second));
  const files = await rig.files();
  const unknown = { toSnapshot: 'site-20200101-000000' };
  await rig.publish(second, { spec: { snapshots: SNAPSHOTS, rollback: unknown } });
  expect(await rig.untilReport(({ errorReason }) => errorReason === 'RollbackFailed')).toMatchObject({
    syncStatus: 'Error',
    errorMessage: expect.stringContaining('site-20200101-000000: it does not exist'),
  });
  const archive = join(rig.dataFolder, '.ignition-sync/snapshots', `${lastSnapshot?.id}.tar.gz`);
  const bytes = await readFile(archive);
  bytes[20] = (bytes[20] ?? 0) ^ 0xff;
  await writeFile(archive, bytes);
  await rig.publish(second, { spec: { snapshots: SNAPSHOTS, rollback: { toSnapshot: lastSnapshot?.id ?? '' } } });
  await rig.untilReport(({ errorMessage = '' }) => errorMessage.includes('its checksum is not that of the index'));
  expect(await rig.files()).toEqual(files);
});

it.each(['scanFailure', 'projectLoadError', 'healthCheckFailure'] as const)(
  'scenario 19 returns to the snapshot after %s, and does not try the commit again until a retry',
  async (trigger) => {
    const rig = await agentRig();
    const autoRollback = { enabled: true, triggers: [trigger] };
    const spec = { snapshots: SNAPSHOTS, deployment: { autoRollback } };
    let isHealthy = false;
    const healthCheckUrl = trigger === 'healthCheckFailure' ? await healthServer(() => isHealthy) : undefined;
    const { first, second } = await twoCommits(rig, spec);
    const before = await rig.files();
    if (trigger === 'scanFailure')
      await rig.gateway.change({ responses: [{ path: SCANS, method: 'POST', status: 409, times: 1 }] });
    if (trigger === 'projectLoadError') await rig.gateway.change({ brokenProjects: ['mixer'] });
    await rig.publish(second, { spec, plan: { healthCheckUrl } });
    const rejected = await rig.untilReport(({ rejectedCommit }) => rejectedCommit === second);
    const reasons = {
      scanFailure: 'ScanFailed',
      projectLoadError: 'ProjectLoadError',
      healthCheckFailure: 'HealthCheckFailed',
    };
    expect(rejected).toMatchObject({ syncStatus: 'Error', syncedCommit: first, errorReason: reasons[trigger] });
    expect(await rig.files()).toEqual(before);
    expect((await rig.untilEvent('RolledBack')).note).toContain(second.slice(0, 12));
    await rig.gateway.change({ brokenProjects: [], responses: [] });
    isHealthy = true;
    await rig.publish(second, { spec, plan: { healthCheckUrl }, metadata: { trigger: '2026-01-02T03:04:05Z' } });
    const report = await rig.untilReport(synced(second));
    expect(report.rejectedCommit).toBeUndefined();
    expect(report.stageHealth).toBe(trigger === 'healthCheckFailure' ? 'Healthy' : undefined);
    expect((await rig.files())[VIEW]).toBe('{"version": 2}');
  },
);

it('scenario 19 counts drifted files, and restores them with Restore', async () => {
  const rig = await agentRig();
  const clock = new AgentClock();
  const commit = await rig.commit(FIRST);
  await rig.gateway.start();
  await rig.publish(commit);
  await using agent = await rig.start({ clock });
  await advancing(clock, rig.untilReport(synced(commit)), 100);
  await rig.place(VIEW, '{"changed": "on the gateway"}');
  const report = await advancing(
    clock,
    rig.untilReport(({ drifted }) => drifted !== undefined),
    5_000,
  );
  expect(report).toMatchObject({ syncStatus: 'Synced', drifted: { count: 1, paths: [VIEW] } });
  expect((await rig.untilEvent('GatewayFilesModified')).note).toContain(VIEW);
  expect((await rig.files())[VIEW]).toBe('{"changed": "on the gateway"}');
  await rig.publish(commit, { spec: { drift: 'Restore' } });
  await advancing(
    clock,
    rig.untilReport(({ drifted }) => drifted === undefined),
    100,
  );
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
  await rig.place(VIEW, '{"changed": "again"}');
  const isRestored = (): boolean => rig.lines.some(({ msg, trigger }) => msg === 'sync' && trigger === 'drift');
  await advancing(clock, expect.poll(isRestored).toBe(true), 5_000);
  expect((await rig.files())[VIEW]).toBe('{"version": 1}');
  expect(await agent.metric('ignition_sync_agent_drifted_files')).toMatch(/ 0$/);
});

async function healthServer(isHealthy: () => boolean): Promise<string> {
  const server = createServer((_, response) => response.writeHead(isHealthy() ? 200 : 503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
}
