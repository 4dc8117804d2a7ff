import { ConfigMap, keyOf, keyString } from '@bowline/kubernetes';
import { compareResourceVersions } from '@bowline/machinery';
import { isAlreadyExists, isConflict } from '@bowline/runtime/client';
import {
  contentMembers,
  type EnsureOptions,
  losesContent,
  planContent,
  replaceContent,
  saveContent,
} from '@bowline/runtime/writing';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, REQUESTS } from '../api/names.ts';
import { baseOf, formatBase } from '../bidirectional/base.ts';
import { conflictOf, mergeObstacle, tooManyKeys } from '../bidirectional/obstacles.ts';
import { type ThreeWayResult, threeWay } from '../bidirectional/three-way.ts';
import { type Content, contentOf } from '../content/content.ts';
import { keyHashes } from '../content/content-hash.ts';
import { type CopyView, copies, type DesiredCopy } from '../copies/copies.ts';
import {
  type CopyResult,
  failed,
  type Obstacle,
  obstacleIn,
  problemOf,
  resultOf,
  untouched,
} from '../copies/copy-result.ts';
import { desiredCopy } from '../copies/desired-copy.ts';
import { ownerOf, ownerText } from '../copies/ownership.ts';
import { copiedMetadata } from '../metadata/copied-metadata.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { copyPolicy, forcedBy } from './copy-policy.ts';
import { type Source, sourceKey, sourceOf, waitForSource } from './source.ts';
import type { SyncContext } from './sync-controller.ts';

/** BothSides holds the source as it is now, and the result of the copy. */
export interface BothSides {
  readonly source: Source | undefined;
  readonly results: readonly CopyResult[];
}

/**
 * syncBothWays keeps a source and its copy the same, whichever of them is edited. The source is written first, and the
 * copy, which records what both agree on, last: if it is stopped in between, the next run finds the same edits and no
 * new conflict.
 */
export async function syncBothWays(
  context: SyncContext,
  source: Source | undefined,
  targets: readonly Target[],
): Promise<BothSides> {
  const [target] = targets;
  if (!target) return { source, results: [] };
  const obstacle = problemOf(target);
  if (obstacle) return { source, results: [untouched(target, context.get('copies', target), obstacle)] };
  try {
    const sides = await syncWith(context, source, target);
    if (sides.results.every((result) => !result.obstacle)) await removeResolution(context);
    return sides;
  } catch (error) {
    // Another client was faster: the next run, which follows at once, sees the change.
    if (isConflict(error) || isAlreadyExists(error) || context.signal.aborted) throw error;
    context.log.warn('failed to sync a copy', { copy: keyString(target), error });
    return { source, results: [failed(target, error, context.get('copies', target))] };
  }
}

async function syncWith(context: SyncContext, source: Source | undefined, target: Target): Promise<BothSides> {
  const cached = context.get('copies', target);
  if (source && cached && isInSync(context, source, cached)) return { source, results: [untouched(target, cached)] };
  const { namespace, name } = target;
  const copy = await context.live.find(ConfigMap, { namespace, name });
  if (source) return copy ? mergeSides(context, source, target, copy) : createFrom(context, source, target);
  if (copy && mayBecomeSource(context, copy)) {
    return mergeSides(context, await recreateSource(context, copy), target, copy);
  }
  return { source, results: waitForSource(context, [target]) };
}

/** Reports whether both sides hold what they last agreed on: the cached state is enough to decide. */
function isInSync(context: SyncContext, source: Source, copy: CopyView): boolean {
  if (copy.operatorAnnotations.base === undefined) return false;
  const desired = desiredOf(context, source, source.content);
  return planContent(copies, copy, desired, bothWaysPolicy(context)).step === 'keep';
}

/** Conflicts are decided key by key before anything is written, or by the next run if another client was faster. */
function bothWaysPolicy(context: SyncContext): EnsureOptions<ConfigMap, CopyView, Obstacle> {
  return { ...copyPolicy(context), keys: 'all', drift: 'overwrite', attempts: 1 };
}

function desiredOf({ object }: SyncContext, source: Source, content: Content, base?: string): DesiredCopy {
  return desiredCopy(object, source, content, copiedMetadata(source.metadata, object.spec.metadata), base);
}

async function createFrom(context: SyncContext, source: Source, target: Target): Promise<BothSides> {
  const base = formatBase(keyHashes(source.content));
  if (base === undefined) return { source, results: [untouched(target, undefined, tooManyKeys)] };
  const desired = desiredOf(context, source, source.content, base);
  const policy = { ...bothWaysPolicy(context), observed: { view: undefined } };
  return { source, results: [resultOf(target, await context.ensure(copies, target, desired, policy))] };
}

/** A missing source is recreated from its copy, but not from a ConfigMap of another owner that was never synced. */
function mayBecomeSource({ object }: SyncContext, copy: ConfigMap): boolean {
  const { labels = {}, annotations, deletionTimestamp } = copy.metadata ?? {};
  const isOurs =
    ownerOf(labels) === ownerText(keyOf(object)) &&
    annotations?.[ANNOTATIONS.syncUid] === object.metadata?.uid &&
    deletionTimestamp === undefined;
  return isOurs && object.spec.sourceDeletionPolicy !== 'Delete';
}

async function recreateSource(context: SyncContext, copy: ConfigMap): Promise<Source> {
  const key = sourceKey(context);
  const manifest = { metadata: key, ...contentMembers(contentOf(copy)) };
  const source = await context.live.create(ConfigMap, manifest);
  context.event('Normal', 'Created', `recreated the source ${keyString(key)} from its copy ${keyString(keyOf(copy))}`);
  return sourceOf(source);
}

/** mergeSides applies the changes of each side to the other. */
async function mergeSides(context: SyncContext, source: Source, target: Target, copy: ConfigMap): Promise<BothSides> {
  const view = copies.viewOf(copy);
  const policy = bothWaysPolicy(context);
  const plan = planContent(copies, view, desiredOf(context, source, source.content), policy);
  if (plan.step === 'stop') return { source, results: [untouched(target, view, obstacleIn(plan, view))] };
  const agreed = plan.step === 'adopt' ? undefined : baseOf(copy);
  const merged = threeWay({
    base: agreed ?? {},
    source: source.content,
    destination: contentOf(copy),
    policy: context.object.spec.conflictPolicy,
    newer: isNewer(source, copy) ? 'source' : 'destination',
    resolve: resolutionOf(context),
  });
  const base = formatBase(merged.base);
  const obstacle = mergeObstacle(merged, source.isImmutable);
  if (obstacle || base === undefined) {
    return { source, results: [untouched(target, view, obstacle ?? tooManyKeys)] };
  }
  // What either side meant to keep is unknown.
  if (!agreed) await saveBoth(context, { source, copy, merged });
  const current = merged.writeSource ? await writeSource(context, source, target, merged.source) : source;
  const desired = desiredOf(context, current, merged.destination, base);
  // Its side of a conflict exists nowhere else: if the recreation is interrupted, the copy would be recreated with the
  // content of the source.
  if (view.isImmutable && merged.writeDestination && merged.conflicts.length > 0)
    await saveContent(context, copies, copy);
  const result = resultOf(
    target,
    await context.ensure(copies, target, desired, { ...policy, observed: { view, live: copy } }),
  );
  // An edit of the copy is not drift: it was applied to the source.
  const outcome = result.outcome === 'repaired' ? 'updated' : result.outcome;
  return { source: current, results: [{ ...result, outcome, obstacle: result.obstacle ?? conflictOf(merged) }] };
}

async function saveBoth(
  context: SyncContext,
  { source, copy, merged }: { readonly source: Source; readonly copy: ConfigMap; readonly merged: ThreeWayResult },
): Promise<void> {
  if (losesContent(contentOf(copy), merged.destination)) await saveContent(context, copies, copy);
  if (losesContent(source.content, merged.source)) await saveContent(context, copies, source.object);
}

async function writeSource(context: SyncContext, source: Source, target: Target, content: Content): Promise<Source> {
  const key = sourceKey(context);
  const written = await replaceContent(context, copies, source.object, content);
  context.event(
    'Normal',
    'Updated',
    `updated the source ${keyString(key)} with the changes in its copy ${keyString(target)}`,
  );
  return sourceOf(written);
}

function isNewer(source: Source, copy: ConfigMap): boolean {
  return compareResourceVersions(source.resourceVersion, copy.metadata?.resourceVersion ?? '') !== -1;
}

/** resolutionOf returns the side that a user has decided for. */
function resolutionOf(context: SyncContext): 'Source' | 'Destination' | undefined {
  const requested = context.object.metadata?.annotations?.[REQUESTS.resolve];
  if (requested === 'Source' || requested === 'Destination') return requested;
  return forcedBy(context) === undefined ? undefined : 'Source';
}

/**
 * removeResolution removes the decision from the ConfigMapSync once it is carried out: it was for this conflict, not
 * for the next.
 */
async function removeResolution({ object, key, live }: SyncContext): Promise<void> {
  if (object.metadata?.annotations?.[REQUESTS.resolve] === undefined) return;
  const body = { metadata: { annotations: { [REQUESTS.resolve]: null } } };
  await live.patch(ConfigMapSync, key, { type: 'merge', body });
}
