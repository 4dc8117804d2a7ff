import {
  ConfigMap,
  type KubernetesObject,
  type ObjectMeta,
  PodDisruptionBudget,
  type Resource,
  StatefulSet,
} from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { ANNOTATIONS } from '../api/names.ts';
import { child } from '../objects/child.ts';
import { MANAGED_BY } from '../objects/labels.ts';
import { type PruneOptions, type PruneRun, prune } from './prune.ts';

const UID = 'operand';
const owner = { apiVersion: 'v1', kind: 'SpireServer', name: 'cluster', uid: UID };
const ours = (name: string, more: ObjectMeta = {}): KubernetesObject => ({
  metadata: { namespace: 'spire', name, uid: name, labels: MANAGED_BY, ownerReferences: [owner], ...more },
});

async function pruned(
  kind: Resource<KubernetesObject>,
  objects: readonly KubernetesObject[],
  options: Partial<PruneOptions> = {},
): Promise<{ readonly removed: readonly string[]; readonly isComplete: boolean }> {
  const removed: string[] = [];
  const run: PruneRun = {
    object: { metadata: { name: 'cluster', uid: UID } },
    list: () => objects,
    isServed: () => true,
    remove: async (_, { name }) => {
      removed.push(name);
      return { outcome: 'deleted' };
    },
  };
  const rendered = [child('Any', kind, { metadata: { namespace: 'spire', name: 'rendered' } })];
  const isComplete = await prune(run, rendered, { kinds: [kind], isRolledOut: true, ...options });
  return { removed, isComplete };
}

it('removes only what has our label and the owner, is not rendered, and may be changed', async () => {
  const objects = [
    ours('rendered'),
    ours('old'),
    ours('copy', { ownerReferences: [] }),
    ours('other-operand', { ownerReferences: [{ ...owner, uid: 'other' }] }),
    ours('given-up', { labels: {} }),
    ours('frozen', { annotations: { [ANNOTATIONS.createOnly]: 'true' } }),
    ours('deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ];
  expect(await pruned(PodDisruptionBudget, objects)).toEqual({ removed: ['old'], isComplete: true });
});

it('keeps what pods use until they use the current objects', async () => {
  expect((await pruned(ConfigMap, [ours('old')], { isRolledOut: false })).removed).toEqual([]);
  expect((await pruned(PodDisruptionBudget, [ours('old')], { isRolledOut: false })).removed).toEqual(['old']);
  expect((await pruned(ConfigMap, [ours('old')])).removed).toEqual(['old']);
});

it('never removes a workload', async () => {
  expect((await pruned(StatefulSet, [ours('old')])).removed).toEqual([]);
});

it('reports whether something has to be removed later', async () => {
  expect(await pruned(ConfigMap, [ours('old')], { decide: () => 'keep' })).toEqual({ removed: [], isComplete: true });
  expect(await pruned(ConfigMap, [ours('old')], { decide: () => 'later' })).toEqual({ removed: [], isComplete: false });
});
