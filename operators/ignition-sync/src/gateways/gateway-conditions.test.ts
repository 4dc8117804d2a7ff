import { describe, expect, it } from 'vitest';
import { COMMIT_B, injectedPod, podWithoutAgent } from '../discovery/gateways.test-support.ts';
import type { GatewayReport } from '../protocol/gateway-report.ts';
import { COMMIT_A } from '../protocol/metadata.test-support.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import { Fleet } from '../rollout/fleet.test-support.ts';
import { type GatewayConditions, gatewayConditions } from './gateway-conditions.ts';
import { gatewayEntries } from './gateway-entries.ts';

function conditionsOf(fleet: Fleet, malformed: readonly string[] = []): GatewayConditions {
  const rollout = fleet.plan();
  const metadata = { ...fleet.metadata, plan: rollout.plan };
  const discovery = fleet.discovery();
  const { reports } = fleet;
  const entries = gatewayEntries({ discovery, reports, metadata, previous: [] });
  return gatewayConditions({
    discovery,
    entries,
    reports,
    malformed,
    metadata,
    rollout,
    approvedBy: fleet.approval?.by,
  });
}

const find = ({ conditions }: GatewayConditions, type: string) => conditions.find((each) => each.type === type);
const reasons = ({ events }: GatewayConditions): string[] => events.map(({ reason }) => reason);

function settled(names: readonly string[], spec: object = {}): Fleet {
  const fleet = new Fleet(names, spec);
  fleet.settle();
  return fleet;
}

describe('AllGatewaysSynced and Ready', () => {
  it('are True when all gateways are synced', () => {
    const result = conditionsOf(settled(['a', 'b']));
    expect(result.conditions).toEqual([
      { type: 'Ready', status: true, reason: 'SyncSucceeded', message: 'all gateways are synced' },
      { type: 'AllGatewaysSynced', status: true, reason: 'SyncSucceeded', message: '2/2 gateways synced' },
    ]);
    expect(result.absent).toHaveLength(10);
    expect(reasons(result)).toEqual(['GatewaysDiscovered', 'SyncCompleted']);
  });

  it('are False without gateways', () => {
    const result = conditionsOf(new Fleet([]));
    expect(find(result, 'AllGatewaysSynced')).toMatchObject({ status: false, reason: 'NoGatewaysDiscovered' });
    expect(find(result, 'Ready')).toMatchObject({ reason: 'Reconciling', message: 'Waiting for gateways to sync' });
    expect(reasons(result)).toEqual([]);
  });

  it('are False while a gateway syncs, and name it', () => {
    const fleet = settled(['a', 'b']);
    fleet.push(COMMIT_B);
    fleet.plan();
    fleet.report('a');
    const result = conditionsOf(fleet);
    expect(find(result, 'AllGatewaysSynced')).toEqual({
      type: 'AllGatewaysSynced',
      status: false,
      reason: 'SyncInProgress',
      message: '1/2 gateways synced; b: Pending',
    });
    expect(find(result, 'Ready')).toMatchObject({ status: false, reason: 'Reconciling' });
  });

  it('report a failure with its reason', () => {
    const fleet = settled(['a', 'b']);
    fleet.report('b', { syncStatus: 'Error', errorReason: 'DiskFull', errorMessage: 'no space left' });
    const result = conditionsOf(fleet);
    expect(find(result, 'AllGatewaysSynced')).toMatchObject({
      reason: 'SyncFailed',
      message: '1/2 gateways synced; b: DiskFull: no space left',
    });
    expect(find(result, 'Ready')).toMatchObject({
      reason: 'SyncFailed',
      message: expect.stringMatching(/^the sync of b failed; /),
    });
    expect(result.events).toContainEqual({
      type: 'Warning',
      reason: 'SyncFailed',
      message: 'gateway b: DiskFull: no space left',
    });
  });

  it('name at most five gateways', () => {
    const fleet = new Fleet(Array.from({ length: 8 }, (_, index) => `g${index}`));
    const { message } = find(conditionsOf(fleet), 'AllGatewaysSynced') ?? {};
    expect(message).toMatch(/^0\/8 gateways synced; g0: .*g4: Pending; and 3 others$/);
  });

  it('count gateways that wait at an older commit as not synced', () => {
    const fleet = settled(['a', 'b'], { deployment: { syncOrder: ['a'] } });
    fleet.push(COMMIT_B);
    fleet.plan();
    expect(find(conditionsOf(fleet), 'AllGatewaysSynced')?.message).toBe(
      '0/2 gateways synced; a: Pending; b: waiting for gateway a, which is before it in deployment.syncOrder',
    );
  });

  it('report settings without effect', () => {
    const fleet = settled(['a'], { deployment: { syncOrder: ['nobody'] } });
    expect(find(conditionsOf(fleet), 'AllGatewaysSynced')?.message).toBe(
      '1/1 gateways synced; deployment.syncOrder: gateway nobody is not running or does not exist',
    );
  });
});

describe('a rollback', () => {
  const messageOf = (rollback: SyncMetadata['rollback']): string | undefined => {
    const fleet = new Fleet(['a', 'b'], {}, { rollback });
    fleet.settle();
    return find(conditionsOf(fleet), 'AllGatewaysSynced')?.message;
  };

  it('names the gateways that stay at the snapshot', () => {
    expect(messageOf({ toSnapshot: 'a-20260101-000000' })).toBe(
      '2/2 gateways synced; a at the snapshot a-20260101-000000 until spec.rollback is removed',
    );
  });

  it.each([
    ['a snapshot', { toSnapshot: 'c-20260101-000000' }, 'no running gateway has the snapshot c-20260101-000000'],
    ['a gateway', { toSnapshot: 'a-20260101-000000', gateways: ['a', 'c'] }, 'gateways: c is not running'],
  ])('reports that %s does not exist', (_, rollback, message) => {
    expect(messageOf(rollback)).toContain(message);
  });
});

describe('pods without an agent', () => {
  it('are reported, and count as not synced if they are ours', () => {
    const fleet = settled(['a']);
    fleet.pods.set('b', podWithoutAgent('b', {}, 'no image is configured'));
    const result = conditionsOf(fleet);
    expect(find(result, 'SidecarInjected')).toMatchObject({
      status: false,
      reason: 'MissingSidecar',
      message: 'pod b has no agent: no image is configured',
    });
    expect(find(result, 'AllGatewaysSynced')?.message).toBe('1/2 gateways synced; b: no image is configured');
    expect(reasons(result)).toContain('MissingSidecar');
  });
});

describe('pods with a ref of their own', () => {
  it('set RefSkew and do not count', () => {
    const fleet = settled(['a']);
    fleet.add('b', { annotations: { refOverride: 'feature' } });
    const result = conditionsOf(fleet);
    expect(find(result, 'RefSkew')).toMatchObject({ status: true, message: 'b follows feature' });
    expect(find(result, 'AllGatewaysSynced')).toMatchObject({ status: true, message: '1/1 gateways synced' });
  });
});

describe('a report sets', () => {
  it.each<[type: string, report: Partial<GatewayReport>, message: string]>([
    ['DesignerSessionActive', { sessionsBlocking: 1 }, 'the sync of a waits until Designer sessions are closed'],
    ['DriftDetected', { drifted: { count: 2, paths: ['x', 'y'] } }, 'files were changed on gateways: a: x, a: y; '],
    ['DriftDetected', { drifted: { count: 9, paths: [] } }, 'files were changed on gateways: a: 9 files'],
    ['ConflictDetected', { conflicts: ['x'] }, 'files were changed on gateways and in Git: a: x'],
    ['AutoRollbackPerformed', { syncStatus: 'Error', rejectedCommit: COMMIT_A }, 'a returned to the snapshot'],
  ])('%s', (type, report, message) => {
    const fleet = settled(['a']);
    fleet.report('a', report);
    const condition = find(conditionsOf(fleet), type);
    expect(condition).toMatchObject({ status: true });
    expect(condition?.message).toContain(message);
  });

  it('no condition if there is nothing to report', () => {
    const fleet = settled(['a']);
    fleet.report('a', {
      sessionsBlocking: 0,
      drifted: { count: 0, paths: [] },
      conflicts: [],
      rejectedCommit: COMMIT_B,
    });
    expect(conditionsOf(fleet).absent).toHaveLength(10);
  });
});

describe('BidirectionalReady', () => {
  it('is True when every agent watches', () => {
    const bidirectional = { enabled: true, watchPaths: ['projects'] };
    const git = {
      repo: 'https://git.example.com/a',
      ref: 'main',
      auth: { token: { secretRef: { name: 'a', key: 'b' } } },
    };
    const fleet = settled(['a', 'b'], { bidirectional, git });
    fleet.report('a', { isWatching: true });
    expect(find(conditionsOf(fleet), 'BidirectionalReady')).toMatchObject({
      status: false,
      message: 'the agents of b do not watch for changes yet',
    });
    fleet.report('b', { isWatching: true });
    expect(find(conditionsOf(fleet), 'BidirectionalReady')).toMatchObject({ status: true, reason: 'WatchersActive' });
  });
});

describe('TooManyGateways', () => {
  it('is True with the 401st gateway', () => {
    const fleet = new Fleet(Array.from({ length: 401 }, (_, index) => `g${index}`));
    expect(find(conditionsOf(fleet), 'TooManyGateways')?.message).toContain('401 gateways');
    fleet.pods.delete('g0');
    expect(find(conditionsOf(fleet), 'TooManyGateways')).toBeUndefined();
  });
});

describe('canary', () => {
  const stages = [
    { name: 'first', gateways: ['a'], postSyncWait: '0s' },
    { name: 'second', gateways: ['b'], postSyncWait: '0s', requireApproval: true },
  ];
  const deployment = { strategy: 'canary', stages };

  it('reports a failed stage', () => {
    const fleet = new Fleet(['a', 'b'], { deployment });
    fleet.plan();
    fleet.report('a', { syncStatus: 'Error', errorReason: 'ConfigSyntaxError' });
    const result = conditionsOf(fleet);
    const message = expect.stringMatching(
      /^stage first failed on gateway a: ConfigSyntaxError; later stages keep .*retry$/,
    );
    expect(find(result, 'CanaryStageFailed')).toMatchObject({ status: true, reason: 'StageFailed', message });
    expect(result.events).toContainEqual({ type: 'Warning', reason: 'StageFailed', message });
  });

  it('reports that it waits for an approval, and who gave it', () => {
    const fleet = new Fleet(['a', 'b'], { deployment });
    fleet.settle();
    const waiting = conditionsOf(fleet);
    expect(find(waiting, 'PendingApproval')?.message).toContain(`ignition-sync.io/approved-commit to ${COMMIT_A}`);
    expect(reasons(waiting)).toContain('StageCompleted');
    expect(reasons(waiting)).not.toContain('ApprovalGiven');
    fleet.approval = { commit: COMMIT_A, by: 'ada' };
    const approved = conditionsOf(fleet);
    expect(find(approved, 'PendingApproval')).toBeUndefined();
    expect(approved.events).toContainEqual({
      type: 'Normal',
      reason: 'ApprovalGiven',
      message: 'ada approved aaaaaaaaaaaa',
    });
  });
});

describe('events', () => {
  it('report what cannot be read, and peers that do not run', () => {
    const fleet = settled(['a']);
    fleet.add('b', { annotations: { redundancyRole: 'backup', peerGatewayName: 'gone' } });
    fleet.plan();
    fleet.now += 120_000;
    const result = conditionsOf(fleet, ['site']);
    expect(reasons(result)).toEqual(expect.arrayContaining(['MalformedReport', 'PeerUnavailable']));
  });

  it('and conditions are bounded, whatever pods and agents contain', () => {
    const fleet = settled(['a']);
    for (let index = 0; index < 50; index++) {
      const name = `p${index}`;
      fleet.pods.set(name, podWithoutAgent(name, {}, 'x'.repeat(10_000)));
      fleet.add(`g${index}`, { annotations: { refOverride: 'r'.repeat(10_000) } });
      fleet.pods.set(`h${index}`, injectedPod(`h${index}`, { annotations: { gatewayName: 'n'.repeat(10_000) } }));
    }
    const { conditions, events } = conditionsOf(fleet);
    expect(Math.max(...conditions.map(({ message }) => message.length))).toBeLessThanOrEqual(1024);
    expect(Math.max(...events.map(({ message }) => message.length))).toBeLessThanOrEqual(1024);
    expect(events.length).toBeLessThan(30);
  });
});
