import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigMap } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { startGitServer } from '../../../../test/support/git/git-server.ts';
import { objectNames } from '../api/names.ts';
import { decodeReport } from '../protocol/gateway-report.ts';
import { AgentClock, advancing } from './agent-channel.test-support.ts';
import { agentRig, CR, FIRST, POD } from './agent-rig.test-support.ts';

const LIVE = {
  'projects/overview/project.json': '{"title": "Overview"}',
  'projects/overview/view/view.json': '{"version": 1}',
  'projects/line-1/project.json': '{"title": "Line 1"}',
  'config/resources/core/ignition/system-properties/config.json': '{"systemName": "template"}',
};

it('scenario 13 places files before the gateway runs, without a scan, and scans when it runs', async () => {
  const rig = await agentRig();
  await using agent = await rig.start();
  expect(await agent.probe('/startupz')).toBe(503);
  expect(await agent.probe('/readyz')).toBe(503);
  expect(await agent.probe('/healthz')).toBe(200);
  const commit = await rig.commit(FIRST);
  const hash = await rig.publish(commit);
  expect(await rig.untilReport(({ syncStatus }) => syncStatus === 'Pending')).toMatchObject({ appliedHash: hash });
  await expect.poll(() => agent.probe('/startupz')).toBe(200);
  expect(await agent.probe('/readyz')).toBe(200);
  expect(await rig.files()).toEqual(LIVE);
  await rig.gateway.start();
  const report = await rig.untilReport(({ syncStatus }) => syncStatus === 'Synced');
  expect(report).toMatchObject({
    syncedCommit: commit,
    syncedRef: 'main',
    appliedHash: hash,
    lastScanResult: 'projects=200 config=200',
    projectsSynced: ['line-1', 'overview'],
  });
  const scans = (await rig.calls()).filter((call) => call.startsWith('POST /data/api/v1/scan/'));
  expect(scans).toEqual(['POST /data/api/v1/scan/projects 200', 'POST /data/api/v1/scan/config 200']);
  expect((await rig.untilEvent('SyncCompleted')).note).toBe(`gateway site is synced to ${commit.slice(0, 12)}`);
  expect(await rig.untilLine(({ msg }) => msg === 'sync')).toMatchObject({
    audit: true,
    gateway: 'site',
    commit,
    result: 'Synced',
    scanResult: 'projects=200 config=200',
  });
});

it('scenario 13 undoes what the commissioning of the gateway overwrote', async () => {
  const rig = await agentRig();
  const path = 'config/resources/core/ignition/security-properties/config.json';
  const content = '{"permissions": "from git"}';
  const commit = await rig.commit({ ...FIRST, [`services/site/${path}`]: content });
  await rig.publish(commit);
  await using _agent = await rig.start();
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Pending');
  await rig.gateway.start();
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Synced');
  expect(await readFile(join(rig.dataFolder, path), 'utf8')).toBe(content);
});

it.each([
  [500, 'HTTP status 500'],
  [401, 'it must be name:secret'],
  [403, 'permission level Write'],
] as const)('scenario 13 reports a scan that is answered with %s, and repeats it later', async (status, message) => {
  const rig = await agentRig();
  const clock = new AgentClock();
  const commit = await rig.commit(FIRST);
  await rig.publish(commit);
  await rig.gateway.start();
  await rig.gateway.change({ responses: [{ path: '/data/api/v1/scan/**', method: 'POST', status }] });
  await using agent = await rig.start({ clock });
  const failed = await advancing(
    clock,
    rig.untilReport(({ syncStatus }) => syncStatus === 'Error'),
  );
  expect(failed).toMatchObject({ errorReason: 'ScanFailed' });
  expect(failed.errorMessage).toContain(message);
  expect(failed.syncedCommit).toBeUndefined();
  // A failed sync never makes a pod unready.
  expect(await agent.probe('/readyz')).toBe(200);
  await rig.gateway.change({ responses: [] });
  const synced = await advancing(
    clock,
    rig.untilReport(({ syncStatus }) => syncStatus === 'Synced'),
  );
  expect(synced).toMatchObject({ syncedCommit: commit });
  expect(synced.errorReason).toBeUndefined();
});

it('scenario 13 requests nothing from Git and writes nothing after a restart', async () => {
  const rig = await agentRig();
  await rig.publish(await rig.commit(FIRST));
  await rig.gateway.start();
  const first = await rig.start();
  const before = await rig.untilReport(({ syncStatus }) => syncStatus === 'Synced');
  await first.stop();
  const requests = rig.git.requests.length;
  await using again = await rig.start();
  await expect.poll(() => again.metric('ignition_sync_agent_sync_total{result="success"}')).toMatch(/ 1$/);
  expect(rig.git.requests).toHaveLength(requests);
  expect(await rig.report()).toEqual(before);
  expect((await rig.calls()).filter((call) => call.startsWith('POST'))).toHaveLength(4);
});

it('scenario 18 starts the gateway with its last state when Git is down, and waits without one', async () => {
  const rig = await agentRig();
  const clock = new AgentClock();
  rig.git.fault = { kind: 'status', status: 503 };
  const commit = await rig.commit(FIRST);
  await rig.publish(commit);
  const empty = await rig.start({ clock });
  // Reports have a minimum distance, which passes long before the gateway is released.
  const untilFailed = () =>
    advancing(
      clock,
      rig.untilReport(({ syncStatus }) => syncStatus === 'Error'),
      10,
    );
  await untilFailed();
  await clock.advance(60_000);
  expect(await empty.probe('/startupz')).toBe(503);
  rig.git.fault = undefined;
  await advancing(
    clock,
    rig.untilReport(({ syncStatus }) => syncStatus === 'Pending'),
  );
  await empty.stop();
  rig.git.fault = { kind: 'status', status: 503 };
  await rig.publish(await rig.commit({ 'services/site/projects/overview/new.txt': 'new' }));
  await using agent = await rig.start({ clock });
  const failed = await untilFailed();
  expect(failed.errorReason).toBe('HostUnreachable');
  expect(await agent.probe('/startupz')).toBe(503);
  await clock.advance(60_000);
  expect(await agent.probe('/startupz')).toBe(200);
  expect((await rig.untilEvent('StartedWithLast')).note).toContain(
    'gateway site starts with the files of its last sync',
  );
  expect(await rig.files()).toEqual(LIVE);
});

it('lets the gateway of a paused sync start, and fetches nothing until it is resumed', async () => {
  const rig = await agentRig();
  const commit = await rig.commit(FIRST);
  await rig.publish(commit, { spec: { paused: true } });
  await using agent = await rig.start();
  await expect.poll(() => agent.probe('/startupz')).toBe(200);
  expect(rig.git.requests).toEqual([]);
  expect(await rig.files()).toEqual({});
  await rig.publish(commit);
  await rig.gateway.start();
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Synced');
});

it('leaves every file unchanged when the metadata ConfigMap is deleted', async () => {
  const rig = await agentRig();
  const { namespace } = rig.c;
  await rig.publish(await rig.commit(FIRST));
  await rig.gateway.start();
  await using agent = await rig.start();
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Synced');
  await rig.c.admin.delete(ConfigMap, { namespace, name: objectNames(CR).metadata });
  await expect.poll(() => agent.metric('ignition_sync_agent_sync_skipped_total{reason="missing"}')).toMatch(/ 1$/);
  expect(await rig.files()).toEqual(LIVE);
});

it('names the binding that is missing when it may not read its ConfigMap', async () => {
  const rig = await agentRig({ isBound: false });
  await using agent = await rig.start();
  await rig.untilLine(({ roleBinding }) => String(roleBinding).endsWith(objectNames(CR).agent));
  expect(await agent.probe('/startupz')).toBe(503);
  expect(await rig.report()).toBeUndefined();
});

it('sends nothing to another origin than the one of its credentials', async () => {
  const rig = await agentRig({ gitServer: { auth: { username: 'x-access-token', password: 'canary-token' } } });
  await using other = await startGitServer({ plain: true });
  const commit = await rig.commit(FIRST);
  await rig.publish(commit, { metadata: { gitURL: `${other.url}/plant.git`, authType: 'token' } });
  await using agent = await rig.start();
  const report = await rig.untilReport(({ syncStatus }) => syncStatus === 'Error');
  expect(report.errorReason).toBe('OriginChanged');
  expect(report.errorMessage).toContain('recreate the pod');
  expect([...rig.git.requests, ...other.requests]).toEqual([]);
  await rig.publish(commit, { metadata: { authType: 'token' } });
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Pending');
  await agent.stop();
  expect(agent.output()).not.toContain('canary');
});

it('does nothing with a metadata ConfigMap of another version, and reports both versions', async () => {
  const rig = await agentRig();
  const { c } = rig;
  const name = objectNames(CR).metadata;
  await rig.publish(await rig.commit(FIRST));
  await c.admin.patch(ConfigMap, { namespace: c.namespace, name }, { type: 'merge', body: { data: { schema: '2' } } });
  await using _agent = await rig.start();
  const { data } = await c.until(
    ConfigMap,
    { namespace: c.namespace, name: objectNames(CR).status },
    ({ data: found }) => found?.[POD] !== undefined,
  );
  expect(decodeReport(POD, data?.[POD] ?? '')).toMatchObject({ syncStatus: 'Error', errorReason: 'ProtocolMismatch' });
  expect(rig.git.requests).toEqual([]);
});
