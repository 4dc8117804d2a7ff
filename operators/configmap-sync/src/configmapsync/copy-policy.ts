import { keyOf } from '@bowline/kubernetes';
import type { Claim, ContentPolicy } from '@bowline/runtime/writing';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { REQUESTS } from '../api/names.ts';
import type { CopyView } from '../copies/copies.ts';
import type { Obstacle } from '../copies/copy-result.ts';
import { ownerOf, ownerText } from '../copies/ownership.ts';
import type { SyncContext } from './sync-controller.ts';

/** copyPolicy returns the policy for the copies of a ConfigMapSync. */
export function copyPolicy(context: SyncContext): ContentPolicy<CopyView, Obstacle> {
  const { conflictPolicy, adoptExisting } = context.object.spec;
  return {
    claim: (copy) => claimOn(context, copy),
    keys: conflictPolicy === 'Merge' ? 'written' : 'all',
    drift: conflictPolicy === 'SkipIfModified' ? 'stop' : 'overwrite',
    adopt: adoptExisting,
    recreate: true,
    force: forcedBy(context) !== undefined,
  };
}

/** claimOn returns the claim on a ConfigMap, determined by its labels and the uid of its ConfigMapSync. */
function claimOn(context: SyncContext, { labels, operatorAnnotations }: CopyView): Claim<Obstacle> {
  const { object } = context;
  const owner = ownerOf(labels);
  if (owner === undefined) return 'foreign';
  if (owner === ownerText(keyOf(object))) return operatorAnnotations.syncUid === object.metadata?.uid ? 'ours' : 'left';
  if (!isAlive(context, owner)) return 'left';
  const message = `the ConfigMap belongs to the ConfigMapSync ${owner}; choose another name, or delete that ConfigMapSync`;
  return { refused: { state: 'Failed', reason: 'DestinationOwnedByAnother', message } };
}

function isAlive({ list, deps }: SyncContext, owner: string): boolean {
  const [namespace = ''] = owner.split('/');
  // Objects in namespaces that we may not read may exist.
  if (deps.namespaces && !deps.namespaces.includes(namespace)) return true;
  return list(ConfigMapSync, { by: { owner } }).length > 0;
}

/** forcedBy returns the value of the annotation that requests a sync over conflicts, or undefined once it is done. */
export function forcedBy({ object }: Pick<SyncContext, 'object'>): string | undefined {
  const requested = object.metadata?.annotations?.[REQUESTS.forceSync];
  return requested === object.status?.lastHandledForceSync ? undefined : requested;
}
