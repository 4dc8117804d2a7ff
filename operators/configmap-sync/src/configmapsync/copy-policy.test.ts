import type { ConfigMap } from '@bowline/kubernetes';
import { planContent } from '@bowline/runtime/writing';
import { describe, expect, it } from 'vitest';
import type { Spec } from '../api/config-map-sync.ts';
import { ANNOTATIONS, MANAGED_BY, REQUESTS } from '../api/names.ts';
import { contentOf } from '../content/content.ts';
import { copies, type DesiredCopy } from '../copies/copies.ts';
import { obstacleIn } from '../copies/copy-result.ts';
import { desiredCopy } from '../copies/desired-copy.ts';
import { ownerLabels } from '../copies/ownership.ts';
import { copyPolicy } from './copy-policy.ts';
import type { SyncContext } from './sync-controller.ts';

const sync = { namespace: 'team-a', name: 'settings' };
const place = { namespace: 'team-b', name: 'settings' };
const at = '2026-01-01T00:00:00Z';

const desiredOf = (data: Record<string, string>, labels: Record<string, string> = {}) => {
  const source = { metadata: { namespace: 'team-a', name: 'settings', uid: 'u' }, content: contentOf({ data }) };
  return desiredCopy({ metadata: { ...sync, uid: 'sync-uid' } }, source, source.content, { labels, annotations: {} });
};
const desired = desiredOf({ color: 'red' });
const older = desiredOf({ color: 'blue' });

/** A copy as we wrote it. */
const copyOf = (from: DesiredCopy = desired): ConfigMap => ({
  metadata: {
    ...place,
    labels: from.labels,
    annotations: {
      ...from.metadata?.annotations,
      ...(from.metadataNames === undefined ? {} : { [ANNOTATIONS.managedMetadata]: from.metadataNames }),
      [ANNOTATIONS.syncUid]: 'sync-uid',
      [ANNOTATIONS.source]: 'team-a/settings',
      [ANNOTATIONS.sourceUid]: 'u',
      [ANNOTATIONS.appliedHash]: from.hash ?? '',
      [ANNOTATIONS.managedKeys]: from.keyList ?? '',
      [ANNOTATIONS.syncedAt]: at,
    },
  },
  data: from.content?.data,
});
const edited = (change: Partial<ConfigMap>, from = desired): ConfigMap => ({ ...copyOf(from), ...change });
const labelled = (labels: Record<string, string>, change: Partial<ConfigMap> = {}): ConfigMap => ({
  ...copyOf(),
  ...change,
  metadata: { ...copyOf().metadata, labels },
});
const adopted = (from = desired, change: Partial<ConfigMap> = {}): ConfigMap => {
  const { metadata, ...rest } = copyOf(from);
  const annotations = { ...metadata?.annotations, [ANNOTATIONS.adopted]: 'true' };
  return { metadata: { ...metadata, annotations }, ...rest, ...change };
};
/** A copy of an earlier ConfigMapSync with the same name. */
const ofEarlier = (change: Partial<ConfigMap> = {}): ConfigMap => {
  const { metadata, ...rest } = copyOf();
  const annotations = { ...metadata?.annotations, [ANNOTATIONS.syncUid]: 'earlier' };
  return { metadata: { ...metadata, annotations }, ...rest, ...change };
};
/** A copy of an earlier source with the same name and content. */
const ofEarlierSource = (): ConfigMap => {
  const { metadata, ...rest } = copyOf();
  return {
    metadata: { ...metadata, annotations: { ...metadata?.annotations, [ANNOTATIONS.sourceUid]: 'earlier' } },
    ...rest,
  };
};
const foreign = (change: Partial<ConfigMap> = {}): ConfigMap => ({
  metadata: place,
  data: { color: 'old' },
  ...change,
});

/** Rules holds what a row changes in the ConfigMapSync. */
interface Rules {
  readonly policy?: Spec['conflictPolicy'];
  readonly adoptExisting?: boolean;
  readonly isForced?: boolean;
}

/** Returns the part of a run that decides about copies; of other ConfigMapSyncs, team-c/alive exists. */
function contextOf({ policy = 'SourceWins', adoptExisting = true, isForced = false }: Rules): SyncContext {
  const annotations = isForced ? { [REQUESTS.forceSync]: 'now' } : {};
  return {
    object: { metadata: { ...sync, uid: 'sync-uid', annotations }, spec: { conflictPolicy: policy, adoptExisting } },
    list: (_: unknown, { by }: { by: { owner: string } }) => (by.owner === 'team-c/alive' ? [{}] : []),
    deps: {},
  } as unknown as SyncContext;
}

function planned(copy: ConfigMap | undefined, to: DesiredCopy, rules: Rules = {}): string {
  const view = copy && copies.viewOf(copy);
  const plan = planContent(copies, view, to, copyPolicy(contextOf(rules)));
  if (plan.step === 'write') return `write ${plan.cause}`;
  if (plan.step !== 'stop') return plan.step;
  const { state, reason } = obstacleIn(plan, view);
  return `${state} ${reason}`;
}

type Row = [what: string, copy: ConfigMap | undefined, rules: Rules, plan: string];

describe('copyPolicy', () => {
  it.each<Row>([
    ['creates a missing copy', undefined, {}, 'create'],
    ['keeps a copy that is up to date', copyOf(), {}, 'keep'],
    ['updates the annotations when the source was recreated', ofEarlierSource(), {}, 'mark'],
    ['updates the copy when the source changes', copyOf(older), {}, 'write desired'],
    ['repairs an edited copy', edited({ data: { color: 'green' } }), {}, 'write drift'],
    ['repairs an emptied copy', edited({ data: {} }), {}, 'write drift'],
    [
      'waits for a copy that is being deleted',
      { ...copyOf(), metadata: { ...copyOf().metadata, deletionTimestamp: at } },
      {},
      'Pending DestinationTerminating',
    ],
    [
      'keeps an edited copy with SkipIfModified',
      edited({ data: { color: 'green' } }),
      { policy: 'SkipIfModified' },
      'Conflict DestinationModified',
    ],
    [
      'keeps an edited copy with SkipIfModified when the source changes',
      edited({ data: { color: 'green' } }, older),
      { policy: 'SkipIfModified' },
      'Conflict DestinationModified',
    ],
    [
      'updates an unedited copy with SkipIfModified when the source changes',
      copyOf(older),
      { policy: 'SkipIfModified' },
      'write desired',
    ],
    [
      'ends a conflict when the copy has the desired content',
      { ...copyOf(older), data: { color: 'red' } },
      { policy: 'SkipIfModified' },
      'mark',
    ],
    [
      'overwrites a conflict when forced',
      edited({ data: { color: 'green' } }),
      { policy: 'SkipIfModified', isForced: true },
      'write drift',
    ],
    ['keeps foreign keys with Merge', edited({ data: { color: 'red', theirs: '1' } }), { policy: 'Merge' }, 'keep'],
    ['repairs our keys with Merge', edited({ data: { color: 'x', theirs: '1' } }), { policy: 'Merge' }, 'write drift'],
    ['recreates an immutable copy that it created', edited({ immutable: true }, older), {}, 'recreate'],
    ['keeps an immutable copy that is up to date', edited({ immutable: true }), {}, 'keep'],
    ['fails for an adopted immutable object', adopted(older, { immutable: true }), {}, 'Failed DestinationImmutable'],
    ['updates an adopted object', adopted(older), {}, 'write desired'],
    ['adopts an existing object', foreign(), {}, 'adopt'],
    ['adopts an object that only has the same manager label', labelled({ [MANAGED_BY]: 'configmapsync' }), {}, 'adopt'],
    [
      'fails for an existing object if adoptExisting is false',
      foreign(),
      { adoptExisting: false },
      'Failed DestinationExists',
    ],
    ['fails to adopt an immutable object', foreign({ immutable: true }), {}, 'Failed DestinationImmutable'],
    [
      'adopts an immutable object that has the desired content',
      foreign({ immutable: true, data: { color: 'red' } }),
      {},
      'adopt',
    ],
    [
      'fails for an object of another controller',
      foreign({
        metadata: {
          ...place,
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }],
        },
      }),
      {},
      'Failed DestinationOwnedByAnother',
    ],
    [
      'fails for the copy of another ConfigMapSync',
      labelled(ownerLabels({ namespace: 'team-c', name: 'alive' })),
      {},
      'Failed DestinationOwnedByAnother',
    ],
    ['takes over the copy of a deleted ConfigMapSync with the same name', ofEarlier(), {}, 'mark'],
    [
      'backs up an edited copy of a deleted ConfigMapSync with the same name',
      ofEarlier({ data: { color: 'green' } }),
      {},
      'adopt',
    ],
    [
      'takes over the copy of a deleted ConfigMapSync',
      labelled(ownerLabels({ namespace: 'team-c', name: 'gone' })),
      {},
      'mark',
    ],
    [
      'backs up an edited copy of a deleted ConfigMapSync',
      labelled(ownerLabels({ namespace: 'team-c', name: 'gone' }), { data: { x: '1' } }),
      {},
      'adopt',
    ],
  ])('%s', (_, copy, rules, plan) => {
    expect(planned(copy, desired, rules)).toBe(plan);
  });

  it('writes only labels if only the labels in the spec change', () => {
    const plan = (to: DesiredCopy, from: DesiredCopy) => planned(copyOf(from), to);
    const [red, tagged, other] = [
      desired,
      desiredOf({ color: 'red' }, { tag: '1' }),
      desiredOf({ color: 'red' }, { tag: '2' }),
    ];
    expect([plan(tagged, red), plan(red, tagged), plan(other, tagged), plan(tagged, tagged)]).toEqual([
      'mark',
      'mark',
      'mark',
      'keep',
    ]);
  });
});
