import { IgnitionSync } from '@bowline/ignition-sync';
import type { ConfigMap, KubernetesObject } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { agentBinding, agentRules } from '../../../../../operators/ignition-sync/src/agent-access/agent-role.ts';
import { CR_ANNOTATIONS, FINALIZER, objectNames } from '../../../../../operators/ignition-sync/src/api/names.ts';
import { stateHash } from '../../../../../operators/ignition-sync/src/protocol/desired-hash.ts';
import { decodeReport } from '../../../../../operators/ignition-sync/src/protocol/gateway-report.ts';
import { metadataOf } from '../../../../../operators/ignition-sync/src/protocol/metadata.test-support.ts';
import { encodeMetadata } from '../../../../../operators/ignition-sync/src/protocol/metadata.ts';
import { reportsDue, skippingStage } from './agents.ts';
import { type ExpectedSync, type Found, judge, NOTE } from './judge.ts';

const COMMIT = 'a'.repeat(40);
const OLD = 'b'.repeat(40);
const POD = 'site-0';
const names = objectNames('x');
const ids = {
  metadata: `ConfigMap ${names.metadata}`,
  status: `ConfigMap ${names.status}`,
  changes: `ConfigMap ${names.changes}`,
  role: `Role ${names.agent}`,
  binding: `RoleBinding ${names.agent}`,
};

const draft = metadataOf({}, { commit: COMMIT, ref: 'v1', crUID: 'u' });
const plan = { name: POD, key: POD, commit: COMMIT, ref: 'v1' };
const told = { ...draft, plan: { [POD]: { ...plan, released: stateHash(draft, plan) } } };
const { reports } = reportsDue(encodeMetadata(told), undefined, { snapshotCommit: OLD });

const expected: ExpectedSync = {
  name: 'x',
  state: 'synced',
  ref: 'v1',
  commit: COMMIT,
  requestedRef: 'v1',
  rollback: undefined,
  gateways: { [POD]: COMMIT },
  accounts: ['default'],
  hasClaim: false,
  reports,
  noted: new Set([ids.status]),
};

const lastTransitionTime = '2026-01-01T00:00:00Z';
const sync: IgnitionSync = {
  ...IgnitionSync.withDefaults({
    metadata: {
      name: 'x',
      uid: 'u',
      generation: 2,
      finalizers: [FINALIZER],
      annotations: { [CR_ANNOTATIONS.requestedRef]: 'v1' },
    },
    spec: {
      git: { repo: 'https://a.example/b.git', ref: 'main' },
      gateway: { apiKeySecretRef: { name: 'k', key: 'k' } },
    },
  }),
  status: {
    lastSyncRef: 'v1',
    lastSyncCommit: COMMIT,
    discoveredGateways: [{ name: POD, namespace: 'n', podName: POD, syncStatus: 'Synced', syncedCommit: COMMIT }],
    conditions: ['Ready', 'RepoCloned', 'AllGatewaysSynced'].map((type) => {
      return { type, status: 'True', reason: 'x', message: '', lastTransitionTime, observedGeneration: 2 };
    }),
  },
};

const ownerReferences = [{ apiVersion: 'v1', kind: 'IgnitionSync', name: 'x', uid: 'u' }];
const owned = { name: '', ownerReferences };
const objects: Readonly<Record<string, KubernetesObject>> = {
  [ids.metadata]: { metadata: owned, data: encodeMetadata(told) } as ConfigMap,
  [ids.status]: { metadata: { annotations: { [NOTE]: 'kept' } }, data: reports } as ConfigMap,
  [ids.changes]: { metadata: {} },
  [ids.role]: { metadata: owned, rules: agentRules('x') } as KubernetesObject,
  [ids.binding]: { metadata: owned, ...agentBinding('x', 'n', ['default']) },
};

/** found returns what exists, with changed objects; null removes one. */
function found(changes: Readonly<Record<string, KubernetesObject | null>> = {}, of: IgnitionSync | null = sync): Found {
  const all = Object.entries({ ...objects, ...changes }).filter(
    (entry): entry is [string, KubernetesObject] => !!entry[1],
  );
  return { syncs: new Map(of === null ? [] : [['x', of]]), objects: new Map(all) };
}

const withMetadata = (changes: object): Found =>
  found({ [ids.metadata]: { metadata: owned, data: encodeMetadata({ ...told, ...changes }) } as ConfigMap });

it.each<[string, Found, Partial<ExpectedSync>, readonly string[]]>([
  ['a correct one', found(), {}, []],
  ['one that is missing', found({}, null), {}, ['x: it is missing']],
  ['a missing object', found({ [ids.role]: null }), {}, [`x: ${ids.role} is missing`]],
  ['an object of none', found({ 'ConfigMap y': {} }), {}, ['ConfigMap y: it is left over']],
  [
    'a lost finalizer',
    found({}, { ...sync, metadata: { ...sync.metadata, finalizers: [] } }),
    {},
    ['x: it has no finalizer'],
  ],
  ['a lost request', found(), { requestedRef: 'v2' }, ['x: its requested-ref is v1, not v2']],
  ['a request that did not end', found(), { requestedRef: undefined }, ['x: its requested-ref is v1, not undefined']],
  [
    'a status of another commit',
    found({}, { ...sync, status: { ...sync.status, lastSyncCommit: OLD } }),
    {},
    [`x: its status has v1 at ${OLD}`],
  ],
  [
    'a status about an older spec',
    found({}, { ...sync, metadata: { ...sync.metadata, generation: 3 } }),
    {},
    ['x: Ready is not True', 'x: RepoCloned is not True', 'x: AllGatewaysSynced is not True'],
  ],
  ['a gateway with another commit', found(), { gateways: { [POD]: OLD } }, ['x: its status has other gateways']],
  ['agents that are told another commit', withMetadata({ commit: OLD }), {}, [`x: agents are told v1 at ${OLD}`]],
  [
    'agents that are told another rollback',
    withMetadata({ rollback: { toSnapshot: 'site-0-20260101-000000', gateways: [] } }),
    {},
    ['x: agents are told another rollback', `x: the plan keeps ${POD} from its commit`],
  ],
  ['agents of another IgnitionSync', withMetadata({ crUID: 'v' }), {}, ['x: agents are told another uid']],
  ['a plan without the gateway', withMetadata({ plan: {} }), {}, ['x: the plan has ']],
  [
    'a plan in which the gateway waits',
    withMetadata({ plan: { [POD]: { ...plan, released: '' } } }),
    {},
    [`x: the plan keeps ${POD} from its commit`],
  ],
  ['a Role with other rules', found({ [ids.role]: { metadata: owned } }), {}, ['x: its Role has other rules']],
  ['another account', found(), { accounts: ['default', 'other'] }, ['x: its RoleBinding has default']],
  [
    'a lost report',
    found({ [ids.status]: { metadata: { annotations: { [NOTE]: 'kept' } } } }),
    {},
    ['x: the reports of its agents were changed'],
  ],
  [
    'changes that no agent sent',
    found({ [ids.changes]: { data: { a: 'b' } } as ConfigMap }),
    {},
    ['x: changes were invented'],
  ],
  [
    'a report that would be deleted with the IgnitionSync',
    found({ [ids.changes]: { metadata: owned } }),
    {},
    [`x: ${ids.changes} has another owner`],
  ],
  [
    'an object that would survive the IgnitionSync',
    found({ [ids.binding]: { ...objects[ids.binding], metadata: {} } }),
    {},
    [`x: ${ids.binding} has another owner`],
  ],
  [
    'an object whose foreign content was removed',
    found({ [ids.status]: { data: reports } as ConfigMap }),
    {},
    [`x: ${ids.status} lost what another client added`],
  ],
  ['one that was deleted', { syncs: new Map(), objects: new Map() }, { state: 'gone' }, []],
  [
    'one that should be deleted',
    { syncs: new Map([['x', sync]]), objects: new Map() },
    { state: 'gone' },
    ['x: it still exists'],
  ],
  [
    'what a deleted one left',
    { syncs: new Map(), objects: new Map([[ids.role, {}]]) },
    { state: 'gone' },
    [`${ids.role}: it is left over`],
  ],
])('judges %s', (_, state, changes, problems) => {
  expect(judge(state, [{ ...expected, ...changes }])).toEqual(problems);
});

it('lets each agent report once, with the commit of its snapshot if it stays at one', () => {
  const rollback = { toSnapshot: `${POD}-20260101-000000`, gateways: [POD] };
  const changed = { ...draft, rollback };
  const back = { ...changed, plan: { [POD]: { ...plan, released: stateHash(changed, plan) } } };
  const due = reportsDue(encodeMetadata(back), reports, { snapshotCommit: OLD });
  expect(due.syncing).toBe(1);
  expect(decodeReport(POD, due.reports[POD] ?? '')).toMatchObject({ syncStatus: 'Synced', syncedCommit: OLD });
  expect(reportsDue(encodeMetadata(back), due.reports, { snapshotCommit: OLD })).toEqual({ reports: {}, syncing: 0 });
});

it('notices a gateway that may sync before the stage before it has', () => {
  const later = { ...plan, name: 'site-1', key: 'site-1' };
  const both = { ...told, plan: { ...told.plan, 'site-1': { ...later, released: stateHash(draft, later) } } };
  const waiting = { ...told, plan: { ...told.plan, 'site-1': { ...later, commit: OLD, released: '' } } };
  expect(skippingStage(encodeMetadata(both), {}, POD)).toBe('site-1');
  expect(skippingStage(encodeMetadata(both), reports, POD)).toBeUndefined();
  expect(skippingStage(encodeMetadata(waiting), {}, POD)).toBeUndefined();
  expect(skippingStage(undefined, {}, POD)).toBeUndefined();
});
