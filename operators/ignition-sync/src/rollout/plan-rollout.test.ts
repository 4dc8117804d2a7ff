import { describe, expect, it } from 'vitest';
import { COMMIT_B, COMMIT_C, profileOf } from '../discovery/gateways.test-support.ts';
import { COMMIT_A } from '../protocol/metadata.test-support.ts';
import { Fleet } from './fleet.test-support.ts';

const canary = (stages: readonly object[], more: object = {}): object => ({
  deployment: { strategy: 'canary', stages, ...more },
});

/** synced returns a fleet that is complete at the first commit. */
function synced(names: readonly string[], spec: object = {}): Fleet {
  const fleet = new Fleet(names, spec);
  for (const name of names) {
    const pod = fleet.pods.get(name);
    if (pod) fleet.pods.set(name, { ...pod, phase: 'Pending' });
  }
  fleet.settle();
  for (const [name, pod] of fleet.pods) fleet.pods.set(name, { ...pod, phase: 'Running' });
  fleet.lastSynced = { commit: COMMIT_A, ref: 'main' };
  settleStages(fleet);
  return fleet;
}

/** settleStages also waits for postSyncWait. */
function settleStages(fleet: Fleet): string[] {
  const order = fleet.settle();
  for (let rollout = fleet.plan(); rollout.lookAgainMs !== undefined; rollout = fleet.plan()) {
    fleet.now += rollout.lookAgainMs;
    order.push(...fleet.settle());
  }
  return order;
}

describe('all at once', () => {
  it('syncs all gateways', () => {
    const fleet = new Fleet(['a', 'b', 'c']);
    expect(fleet.settle()).toEqual(['a+b+c']);
    expect(fleet.plan()).toMatchObject({ currentStage: undefined, lookAgainMs: undefined });
  });

  it('syncs at most maxParallel at a time, the rest as others finish', () => {
    const fleet = synced(['a', 'b', 'c', 'd', 'e'], { deployment: { maxParallel: 2 } });
    fleet.push(COMMIT_B);
    expect(fleet.plan().waitingFor).toEqual(new Set(['place']));
    expect(fleet.due()).toEqual(['a', 'b']);
    expect(fleet.waits().c).toBe('waiting until fewer than 2 gateways sync at the same time');
    expect(fleet.previous.c).toMatchObject({ commit: COMMIT_A });
    fleet.report('a');
    fleet.report('b', { syncStatus: 'Syncing' });
    fleet.plan();
    expect(fleet.due()).toEqual(['c']);
    fleet.report('b', { syncStatus: 'Error' });
    fleet.plan();
    expect(fleet.due()).toEqual(['c', 'd']);
    fleet.report('c');
    fleet.report('d');
    fleet.plan();
    expect(fleet.due()).toEqual(['e']);
  });

  it('limits a change of settings, too, without withdrawing the commit', () => {
    const fleet = synced(['a', 'b', 'c'], { deployment: { maxParallel: 1 } });
    fleet.metadata = { ...fleet.metadata, excludePatterns: ['x'] };
    fleet.plan();
    expect(fleet.due()).toEqual(['a']);
    expect(fleet.previous.c).toMatchObject({ commit: COMMIT_A });
    expect(fleet.settle()).toEqual(['a', 'b', 'c']);
  });

  it('gives gateways that start their commit at once, because they cannot run without', () => {
    const fleet = synced(['a', 'b'], { deployment: { maxParallel: 1 } });
    fleet.push(COMMIT_B);
    fleet.add('starting', { phase: 'Pending', isAgentReady: false });
    fleet.add('restarted', { isAgentReady: false });
    fleet.plan();
    expect(fleet.due()).toEqual(['a', 'restarted', 'starting']);
  });

  it('gives a place to the next gateway when an agent stops', () => {
    const fleet = synced(['a', 'b'], { deployment: { maxParallel: 1 } });
    fleet.push(COMMIT_B);
    fleet.plan();
    fleet.add('a', { isAgentReady: false });
    fleet.plan();
    expect(fleet.due()).toEqual(['a', 'b']);
  });

  it('writes the same plan again when nothing changes', () => {
    const fleet = synced(['a', 'b', 'c'], { deployment: { maxParallel: 1 } });
    fleet.push(COMMIT_B);
    const { plan } = fleet.plan();
    fleet.now += 3_600_000;
    expect(fleet.plan().plan).toEqual(plan);
  });
});

describe('syncOrder', () => {
  const deployment = { syncOrder: ['c', 'nobody', 'a'] };

  it('syncs the named gateways one after the other, then the rest', () => {
    const fleet = synced(['a', 'b', 'c', 'd'], { deployment });
    fleet.push(COMMIT_B);
    const { notes, waitingFor } = fleet.plan();
    expect(notes).toEqual(['deployment.syncOrder: gateway nobody is not running or does not exist']);
    expect(waitingFor).toEqual(new Set(['order']));
    expect(fleet.waits().b).toBe('waiting for gateway c, which is before it in deployment.syncOrder');
    expect(fleet.settle()).toEqual(['c', 'a', 'b+d']);
  });

  it('does not continue after a gateway that failed', () => {
    const fleet = synced(['a', 'b', 'c'], { deployment });
    fleet.push(COMMIT_B);
    fleet.plan();
    fleet.report('c', { syncStatus: 'Error', errorReason: 'DiskFull' });
    expect(fleet.settle()).toEqual([]);
    fleet.report('c');
    expect(fleet.settle()).toEqual(['a', 'b']);
  });

  it('does not hold up a change of settings', () => {
    const fleet = synced(['a', 'b', 'c'], { deployment });
    fleet.metadata = { ...fleet.metadata, trigger: '2026-01-01T00:00:00Z' };
    expect(fleet.settle()).toEqual(['a+b+c']);
  });
});

describe('profiles', () => {
  const profiles = {
    low: profileOf(),
    middle: profileOf({ dependsOn: [{ profileName: 'low' }] }),
    high: profileOf({ dependsOn: [{ profileName: 'middle' }] }),
  };

  it('are synced after those that they depend on, also indirectly', () => {
    const fleet = synced(['plain']);
    fleet.metadata = { ...fleet.metadata, profiles };
    fleet.add('a-high', { annotations: { syncProfile: 'high' } });
    fleet.add('b-low', { annotations: { syncProfile: 'low' } });
    expect(fleet.settle()).toEqual(['b-low', 'a-high']);
    fleet.push(COMMIT_B);
    expect(fleet.plan().waitingFor).toEqual(new Set(['dependency']));
    expect(fleet.settle()).toEqual(['b-low+plain', 'a-high']);
  });

  it('take precedence over syncOrder, which is reported', () => {
    const fleet = synced(['x'], { deployment: { syncOrder: ['a', 'b'] } });
    fleet.metadata = { ...fleet.metadata, profiles };
    fleet.add('a', { annotations: { syncProfile: 'middle' } });
    fleet.add('b', { annotations: { syncProfile: 'low' } });
    expect(fleet.plan().notes).toEqual([
      'gateways a and b wait for each other by syncOrder, profiles or redundancy; correct one',
    ]);
    expect(fleet.settle()).toEqual(['b', 'a']);
  });

  it('that are paused keep their gateways at their commit, and hold up no other', () => {
    const fleet = synced(['b', 'c'], canary([{ name: 'first', gateways: ['a', 'b'], postSyncWait: '0s' }]));
    fleet.metadata = { ...fleet.metadata, profiles: { low: profileOf({ paused: true }) } };
    fleet.add('a', { annotations: { syncProfile: 'low' } });
    fleet.push(COMMIT_B);
    expect(fleet.settle()).toEqual(['b', 'c']);
    expect(fleet.waits()).toEqual({ a: 'its SyncProfile low is paused' });
  });
});

describe('a redundant backup', () => {
  const backup = { annotations: { redundancyRole: 'backup', peerGatewayName: 'z-primary' } };

  function pair(): Fleet {
    const fleet = synced(['z-primary', 'other']);
    fleet.add('a-backup', backup);
    fleet.settle();
    fleet.push(COMMIT_B);
    return fleet;
  }

  it('is synced after its peer', () => {
    const fleet = pair();
    expect(fleet.plan().waitingFor).toEqual(new Set(['peer']));
    expect(fleet.waits()).toEqual({ 'a-backup': 'waiting for its peer z-primary' });
    expect(fleet.settle()).toEqual(['other+z-primary', 'a-backup']);
  });

  it('waits while its peer fails', () => {
    const fleet = pair();
    fleet.plan();
    fleet.report('z-primary', { syncStatus: 'Error' });
    expect(fleet.settle()).toEqual(['other']);
  });

  it('waits 2 minutes for a peer that does not run, also across restarts of the controller', () => {
    const fleet = pair();
    fleet.pods.delete('z-primary');
    expect(fleet.plan().lookAgainMs).toBe(120_000);
    fleet.now += 119_000;
    expect(fleet.plan()).toMatchObject({ lookAgainMs: 1_000, unavailablePeers: [] });
    expect(fleet.settle()).toEqual(['other']);
    fleet.now += 1_000;
    expect(fleet.plan()).toMatchObject({
      lookAgainMs: undefined,
      unavailablePeers: [{ gateway: 'a-backup', peer: 'z-primary' }],
    });
    expect(fleet.settle()).toEqual(['a-backup']);
  });

  it('waits again for a peer that returned', () => {
    const fleet = pair();
    fleet.pods.delete('z-primary');
    fleet.plan();
    fleet.add('z-primary');
    fleet.plan();
    fleet.pods.delete('z-primary');
    fleet.now += 200_000;
    expect(fleet.plan().lookAgainMs).toBe(120_000);
  });

  it('by the spec is every gateway but the peer', () => {
    const fleet = synced(['a', 'b', 'main'], { ignition: { redundancyRole: 'backup', peerGatewayName: 'main' } });
    fleet.push(COMMIT_B);
    expect(fleet.settle()).toEqual(['main', 'a+b']);
  });

  it('and its peer are synced one after the other if each is the backup of the other', () => {
    const fleet = synced([]);
    fleet.add('a', { annotations: { redundancyRole: 'backup', peerGatewayName: 'b' } });
    fleet.add('b', { annotations: { redundancyRole: 'backup', peerGatewayName: 'a' } });
    expect(fleet.settle().join(',')).toMatch(/^(a,b|b,a)$/);
  });
});

describe('canary', () => {
  const stages = [
    { name: 'first', gateways: ['a'] },
    { name: 'second', gatewaySelector: { tier: 'two' }, postSyncWait: '1m' },
  ];

  function fleetWith(more: readonly object[] = stages, deployment: object = {}): Fleet {
    const fleet = new Fleet([], canary(more, deployment));
    fleet.add('a');
    fleet.add('b', { labels: { tier: 'two' } });
    fleet.add('c', { labels: { tier: 'two' } });
    fleet.add('d');
    fleet.approval = { commit: COMMIT_A, by: 'ada' };
    settleStages(fleet);
    fleet.lastSynced = { commit: COMMIT_A, ref: 'main' };
    fleet.push(COMMIT_B);
    return fleet;
  }

  it('starts at the first stage, and continues after its gateways and postSyncWait', () => {
    const fleet = fleetWith();
    expect(fleet.plan()).toMatchObject({ currentStage: 'first', completedStages: [] });
    expect(fleet.settle()).toEqual(['a']);
    expect(fleet.plan()).toMatchObject({ currentStage: 'first', lookAgainMs: 30_000 });
    expect(fleet.waits().d).toBe('waiting for the end of postSyncWait of stage first');
    fleet.now += 29_999;
    expect(fleet.settle()).toEqual([]);
    fleet.now += 1;
    expect(fleet.settle()).toEqual(['b+c']);
    expect(fleet.plan()).toMatchObject({ currentStage: 'second', completedStages: ['first'], lookAgainMs: 60_000 });
    fleet.now += 60_000;
    expect(fleet.settle()).toEqual(['d']);
    expect(fleet.plan()).toMatchObject({
      currentStage: undefined,
      completedStages: ['first', 'second', 'rest'],
      lookAgainMs: undefined,
      waitingFor: new Set(),
    });
  });

  it('keeps the commit of later stages while a gateway of an earlier one fails', () => {
    const fleet = fleetWith();
    fleet.plan();
    fleet.report('a', { syncStatus: 'Error', errorReason: 'ConfigSyntaxError' });
    fleet.now += 3_600_000;
    const { failure, waitingFor } = fleet.plan();
    expect(failure).toEqual({ stage: 'first', gateway: 'a', problem: 'ConfigSyntaxError' });
    expect(waitingFor).toEqual(new Set(['stageFailed']));
    expect(fleet.settle()).toEqual([]);
    expect(fleet.previous.d).toMatchObject({ commit: COMMIT_A, waitingFor: 'stage first failed' });
  });

  it('fails when a gateway rolled the commit back, and continues with the next commit', () => {
    const fleet = fleetWith();
    fleet.plan();
    fleet.report('a', { syncStatus: 'Error', errorReason: 'RolledBack', rejectedCommit: COMMIT_B });
    expect(fleet.plan().failure).toMatchObject({ stage: 'first', gateway: 'a', problem: 'RolledBack' });
    fleet.push(COMMIT_C);
    expect(fleet.plan().failure).toBeUndefined();
    expect(settleStages(fleet)).toEqual(['a', 'b+c', 'd']);
    expect(new Set(Object.values(fleet.commits()))).toEqual(new Set(['c']));
  });

  it('repeats a rejected commit when a request changes the trigger', () => {
    const fleet = fleetWith();
    fleet.plan();
    fleet.report('a', { syncStatus: 'Error', errorReason: 'RolledBack', rejectedCommit: COMMIT_B });
    fleet.metadata = { ...fleet.metadata, trigger: 'again' };
    expect(fleet.plan().failure).toBeUndefined();
    expect(fleet.due()).toContain('a');
  });

  it('starts a new commit at the first stage, and leaves the later ones at their old commit', () => {
    const fleet = fleetWith();
    fleet.settle();
    fleet.now += 30_000;
    fleet.settle();
    fleet.push(COMMIT_C);
    expect(fleet.plan()).toMatchObject({ currentStage: 'first', completedStages: [] });
    expect(fleet.due()).toEqual(['a']);
    expect(fleet.commits()).toEqual({ a: 'b', b: 'b', c: 'b', d: 'a' });
  });

  it('waits for the health of every gateway of a stage', () => {
    const fleet = fleetWith([{ name: 'first', gateways: ['a'], healthCheckUrl: 'https://a/', postSyncWait: '0s' }]);
    fleet.plan();
    expect(fleet.previous.a?.healthCheckUrl).toBe('https://a/');
    fleet.report('a', { stageHealth: undefined });
    fleet.plan();
    expect(fleet.due()).toEqual([]);
    fleet.report('a', { stageHealth: 'Unhealthy' });
    expect(fleet.plan().failure).toEqual({ stage: 'first', gateway: 'a', problem: 'the health check failed' });
    fleet.report('a', { stageHealth: 'Healthy' });
    fleet.plan();
    expect(fleet.due()).toEqual(['b', 'c', 'd']);
  });

  it('does not skip a stage whose gateways do not run', () => {
    const fleet = fleetWith();
    fleet.pods.delete('a');
    expect(fleet.plan()).toMatchObject({
      currentStage: 'first',
      notes: ['stage first has no running gateway, so that later stages wait; start one, or remove the stage'],
    });
    expect(settleStages(fleet)).toEqual([]);
    fleet.add('a');
    expect(settleStages(fleet)).toEqual(['a', 'b+c', 'd']);
  });

  it('gives a new gateway of a later stage the commit of that stage', () => {
    const fleet = fleetWith();
    fleet.settle();
    fleet.add('e');
    fleet.plan();
    expect(fleet.previous.e).toMatchObject({ commit: COMMIT_A, stage: 'rest' });
    fleet.pods.delete('d');
    fleet.pods.delete('e');
    fleet.plan();
    fleet.add('f', { phase: 'Pending' });
    fleet.plan();
    expect(fleet.previous.f).toMatchObject({ commit: COMMIT_A });
  });

  it('starts new gateways of every stage with the first commit', () => {
    const fleet = new Fleet([], canary(stages));
    for (const name of ['a', 'b', 'd']) fleet.add(name, { phase: 'Pending', isAgentReady: false });
    fleet.plan();
    expect(fleet.due()).toEqual(['a', 'b', 'd']);
  });

  it('continues when a gateway of a completed stage restarts', () => {
    const fleet = fleetWith();
    fleet.settle();
    fleet.now += 30_000;
    fleet.plan();
    fleet.report('a', { syncStatus: 'Pending' });
    fleet.plan();
    expect(fleet.previous.b).toMatchObject({ commit: COMMIT_B });
    expect(fleet.plan().currentStage).toBe('second');
  });

  it('continues where it was when the controller restarts and its plan is lost', () => {
    const fleet = fleetWith();
    fleet.settle();
    fleet.previous = {};
    fleet.plan();
    expect(fleet.due()).toEqual([]);
    expect(fleet.previous.d).toMatchObject({ commit: COMMIT_A });
    fleet.now += 30_000;
    expect(fleet.settle()).toEqual(['b+c']);
  });

  it('applies maxParallel and syncOrder within a stage', () => {
    const fleet = fleetWith(stages, { maxParallel: 1, syncOrder: ['c', 'd'] });
    expect(settleStages(fleet)).toEqual(['a', 'c', 'b', 'd']);
  });

  it('does not wait for a peer in a later stage', () => {
    const fleet = fleetWith();
    fleet.add('a', { annotations: { redundancyRole: 'backup', peerGatewayName: 'd' } });
    expect(settleStages(fleet)).toEqual(['a', 'b+c', 'd']);
  });

  describe('with an approval', () => {
    const approved = [
      { name: 'first', gateways: ['a'], postSyncWait: '0s' },
      { name: 'second', gateways: ['b', 'c'], postSyncWait: '0s', requireApproval: true },
    ];

    it('waits until its commit is approved', () => {
      const fleet = fleetWith(approved);
      expect(settleStages(fleet)).toEqual(['a']);
      const pending = fleet.plan();
      expect(pending).toMatchObject({ pendingApproval: 'second', currentStage: 'second', approvedStages: [] });
      expect(pending.waitingFor).toEqual(new Set(['approval', 'stage']));
      expect(fleet.waits().b).toContain(`approved-commit to ${COMMIT_B}`);
      fleet.approval = { commit: COMMIT_B, by: 'ada' };
      expect(fleet.plan()).toMatchObject({ pendingApproval: undefined, approvedStages: ['second'] });
      expect(settleStages(fleet)).toEqual(['b+c', 'd']);
    });

    it('does not ask for it before the earlier stage is done', () => {
      const fleet = fleetWith(approved);
      expect(fleet.plan().pendingApproval).toBeUndefined();
    });

    it('does not withdraw a commit when the approval is removed', () => {
      const fleet = fleetWith(approved);
      fleet.approval = { commit: COMMIT_B, by: 'ada' };
      settleStages(fleet);
      fleet.approval = undefined;
      expect(fleet.plan()).toMatchObject({ pendingApproval: undefined, currentStage: undefined });
      expect(fleet.due()).toEqual([]);
    });

    it('is not held up by the request to sync again that an approval is', () => {
      const fleet = fleetWith(approved);
      settleStages(fleet);
      fleet.approval = { commit: COMMIT_B, by: 'ada' };
      fleet.metadata = { ...fleet.metadata, trigger: 'approved' };
      fleet.plan();
      expect(fleet.previous.b).toMatchObject({ commit: COMMIT_B, waitingFor: undefined });
    });
  });
});

describe('a pod with a ref of its own', () => {
  it('gets the commit of that ref, outside of the stages', () => {
    const fleet = synced(['a', 'c'], canary([{ name: 'first', gateways: ['a', 'b'], postSyncWait: '0s' }]));
    fleet.add('b', { annotations: { refOverride: 'feature' } });
    fleet.overrides.set('feature', COMMIT_C);
    fleet.push(COMMIT_B);
    fleet.plan();
    expect(fleet.previous.b).toMatchObject({ commit: COMMIT_C, ref: 'feature' });
    expect(fleet.settle()).toEqual(['a+b', 'c']);
  });

  it('keeps what it has while its ref cannot be resolved', () => {
    const fleet = synced(['a']);
    fleet.add('a', { annotations: { refOverride: 'gone' } });
    expect(fleet.plan().waitingFor).toEqual(new Set(['ref']));
    expect(fleet.previous.a).toMatchObject({ commit: COMMIT_A });
    expect(fleet.due()).toEqual([]);
  });
});

describe('a rollback', () => {
  it('applies to the named gateways at once, and the others do not wait for them', () => {
    const fleet = synced(['a', 'b', 'c'], canary([{ name: 'first', gateways: ['a', 'b'], postSyncWait: '0s' }]));
    fleet.metadata = { ...fleet.metadata, rollback: { toSnapshot: 'a-1', gateways: ['a'] } };
    fleet.push(COMMIT_B);
    fleet.plan();
    expect(fleet.due()).toContain('a');
    fleet.report('b');
    fleet.plan();
    expect(fleet.previous.c).toMatchObject({ commit: COMMIT_B });
  });

  it('without names applies to the gateway that has the snapshot, and the stages to the others', () => {
    const fleet = synced(['a', 'b', 'c'], canary([{ name: 'first', gateways: ['b'], postSyncWait: '0s' }]));
    fleet.metadata = { ...fleet.metadata, rollback: { toSnapshot: 'a-20260101-120000' } };
    fleet.push(COMMIT_B);
    fleet.plan();
    expect(fleet.previous.a).toMatchObject({ waitingFor: undefined });
    expect(fleet.previous.c).toMatchObject({ commit: COMMIT_A, waitingFor: 'waiting for stage first' });
  });
});
