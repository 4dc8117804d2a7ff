import { describe, expect, it } from 'vitest';
import type { DiscoveredGateway } from '../api/ignition-sync.ts';
import { discoverGateways } from '../discovery/discover-gateways.ts';
import type { GatewayPod } from '../discovery/gateway-pod.ts';
import { COMMIT_B, injectedPod, podWithoutAgent } from '../discovery/gateways.test-support.ts';
import { stateHash } from '../protocol/desired-hash.ts';
import { encodeReport, type GatewayReport } from '../protocol/gateway-report.ts';
import { COMMIT_A, metadataOf } from '../protocol/metadata.test-support.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { collectReports } from './collect-reports.ts';
import { gatewayEntries } from './gateway-entries.ts';

const discovery = (...pods: GatewayPod[]) => discoverGateways(pods, { name: 'plant', onlyOne: true });
const TIME = '2026-01-01T00:00:00Z';

describe('collectReports', () => {
  const site = injectedPod('site-0', { annotations: { gatewayName: 'site' } });
  const report = encodeReport({ syncStatus: 'Synced' });

  it('reads by the name of the pod, then by the key of the gateway', () => {
    const failed = encodeReport({ syncStatus: 'Error' });
    const both = collectReports({ site: report, 'site-0': failed }, discovery(site));
    expect(both.reports.get('site-0')?.syncStatus).toBe('Error');
    expect(collectReports({ site: report }, discovery(site)).reports.get('site-0')?.syncStatus).toBe('Synced');
  });

  it('ignores a report that cannot be read, and reads the others', () => {
    const { reports, malformed } = collectReports({ site: '{"', area: report }, discovery(site, injectedPod('area')));
    expect([...reports.keys()]).toEqual(['area']);
    expect(malformed).toEqual(['site']);
  });

  it('finds the keys of pods that no longer exist', () => {
    const deleted = injectedPod('deleted', { isTerminating: true });
    const data = { site: report, 'site-0': report, deleted: report, gone: '{"', also: report };
    expect(collectReports(data, discovery(site, deleted)).stale).toEqual(['also', 'gone']);
    expect(collectReports(undefined, discovery(site))).toEqual({ reports: new Map(), malformed: [], stale: [] });
  });
});

describe('gatewayEntries', () => {
  const plan: GatewayPlan = { name: 'site', key: 'site', commit: COMMIT_A, ref: 'main' };

  function entryOf(
    report: Partial<GatewayReport> | undefined,
    options: { plan?: Partial<GatewayPlan>; previous?: DiscoveredGateway; pod?: GatewayPod; toSnapshot?: string } = {},
  ): DiscoveredGateway {
    const { pod = injectedPod('site'), toSnapshot } = options;
    const base = metadataOf({}, toSnapshot === undefined ? {} : { rollback: { toSnapshot } });
    const metadata: SyncMetadata = { ...base, plan: { site: { ...plan, ...options.plan } } };
    const appliedHash = stateHash(base, plan);
    const reports = new Map<string, GatewayReport>(
      report === undefined ? [] : [['site', { syncStatus: 'Synced', appliedHash, syncedCommit: COMMIT_A, ...report }]],
    );
    const previous = options.previous === undefined ? [] : [options.previous];
    const [entry] = gatewayEntries({ discovery: discovery(pod), reports, metadata, previous });
    if (entry === undefined) throw new Error('there is no entry');
    return entry;
  }

  it('repeat what agents report about the planned state', () => {
    const projectsSynced = ['overview'];
    expect(
      entryOf({ projectsSynced, lastScanResult: 'projects=200 config=200', drifted: { count: 2, paths: [] } }),
    ).toEqual(
      expect.objectContaining({
        name: 'site',
        namespace: 'plant',
        podName: 'site',
        servicePath: 'site',
        agentReady: true,
        syncStatus: 'Synced',
        syncedCommit: COMMIT_A,
        projectsSynced,
        lastScanResult: 'projects=200 config=200',
        driftedFiles: 2,
      }),
    );
  });

  it('name the snapshot that a gateway stays at', () => {
    expect(entryOf({}, { toSnapshot: 'site-20260101-000000' })).toMatchObject({
      syncStatus: 'Synced',
      message: 'at the snapshot site-20260101-000000; remove spec.rollback to follow the ref again',
    });
  });

  it.each<
    [
      what: string,
      report: Partial<GatewayReport> | undefined,
      plan: Partial<GatewayPlan>,
      status: string,
      message: string | undefined,
    ]
  >([
    ['no report', undefined, {}, 'Pending', undefined],
    ['a report about another commit', {}, { commit: COMMIT_B }, 'Pending', undefined],
    ['a report without a hash', { appliedHash: undefined }, {}, 'Pending', undefined],
    ['an error about another commit', { syncStatus: 'Error' }, { commit: COMMIT_B }, 'Pending', undefined],
    ['a gateway that waits', {}, { waitingFor: 'waiting for stage first' }, 'Pending', 'waiting for stage first'],
    ['a sync', { syncStatus: 'Syncing' }, {}, 'Syncing', undefined],
    [
      'a failure',
      { syncStatus: 'Error', errorReason: 'DiskFull', errorMessage: 'no space' },
      {},
      'Error',
      'DiskFull: no space',
    ],
    ['a failure without a message', { syncStatus: 'Error' }, {}, 'Error', 'the sync failed'],
    [
      'Designers',
      { syncStatus: 'Syncing', sessionsBlocking: 2 },
      {},
      'Syncing',
      'waiting for 2 Designer sessions to be closed',
    ],
    [
      'a dry run',
      { dryRun: { added: 1, modified: 2, deleted: 3 } },
      {},
      'Synced',
      'dry run: 1 files to add, 2 to modify, 3 to delete',
    ],
  ])('report %s', (_, report, changes, status, message) => {
    const entry = entryOf(report, { plan: changes });
    expect([entry.syncStatus, entry.message]).toEqual([status, message]);
  });

  it('report an agent that is not ready', () => {
    const entry = entryOf(undefined, { pod: injectedPod('site', { isAgentReady: false }) });
    expect(entry).toMatchObject({ syncStatus: 'Pending', agentReady: false, message: 'the agent is not ready' });
  });

  it('report pods without an agent', () => {
    expect(entryOf(undefined, { pod: podWithoutAgent('site', {}, 'no image') })).toMatchObject({
      syncStatus: 'MissingSidecar',
      message: 'no image',
      agentReady: false,
    });
  });

  it('drop times that are not times', () => {
    const lastSnapshot = { id: 'x', timestamp: 'yesterday' };
    expect(entryOf({ lastSyncTime: '2026-99-01T00:00:00Z', lastSnapshot })).toMatchObject({
      lastSyncTime: undefined,
      lastSnapshot: { id: 'x', timestamp: undefined },
    });
  });

  describe('have a history', () => {
    const synced = { lastSyncTime: TIME, lastSyncDuration: '1s' };

    it('that grows with each result, and only then', () => {
      const first = entryOf(synced);
      expect(first.syncHistory).toEqual([{ timestamp: TIME, commit: COMMIT_A, result: 'Synced', duration: '1s' }]);
      expect(entryOf(synced, { previous: first }).syncHistory).toBe(first.syncHistory);
      expect(entryOf({ ...synced, syncStatus: 'Syncing' }, { previous: first }).syncHistory).toBe(first.syncHistory);
      expect(entryOf(undefined, { previous: first }).syncHistory).toBe(first.syncHistory);
      const failed = entryOf(
        { syncStatus: 'Error', errorReason: 'DiskFull', lastSyncTime: '2026-01-01T00:01:00Z' },
        { previous: first },
      );
      expect(failed.syncHistory?.map(({ result }) => result)).toEqual(['DiskFull', 'Synced']);
    });

    it('with the commit whose sync failed, and when', () => {
      const failedAt = '2026-01-01T00:02:00Z';
      const failure = {
        ...synced,
        syncStatus: 'Error',
        errorReason: 'DiskFull',
        failedAt,
        syncedCommit: 'older',
      } as const;
      const [entry] = entryOf(failure).syncHistory ?? [];
      expect(entry).toEqual({ timestamp: failedAt, commit: COMMIT_A, result: 'DiskFull', duration: undefined });
    });

    it('of at most ten results', () => {
      let previous = entryOf(synced);
      for (let minute = 10; minute < 30; minute++)
        previous = entryOf({ lastSyncTime: `2026-01-01T00:${minute}:00Z` }, { previous });
      expect(previous.syncHistory).toHaveLength(10);
      expect(previous.syncHistory?.[0]?.timestamp).toBe('2026-01-01T00:29:00Z');
    });
  });
});
