import { ConfigMap, keyOf, keyString } from '@bowline/kubernetes';
import { compareResourceVersions } from '@bowline/machinery';
import { isAlreadyExists, isConflict } from '@bowline/runtime';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ANNOTATIONS, REQUESTS } from '../api/names.ts';
import { copyRules, copyTools, FIELD_MANAGER, forcedBy } from '../configmapsync/copy-work.ts';
import { type Source, sourceKey, sourceOf, waitForSource } from '../configmapsync/source.ts';
import type { SyncContext } from '../configmapsync/watching.ts';
import { type Content, contentOf } from '../content/content.ts';
import { keyHashes } from '../content/content-hash.ts';
import { saveContent } from '../copies/backup.ts';
import { contentMembers, contentPatch } from '../copies/copy-bodies.ts';
import { createCopy, patchCopy, untouched } from '../copies/copy-requests.ts';
import { type CopyResult, failed, problemOf, stopped } from '../copies/copy-result.ts';
import { type CopyView, viewOf } from '../copies/copy-view.ts';
import { type Applied, type DesiredCopy, desiredCopy } from '../copies/desired-copy.ts';
import { losesSomething } from '../copies/merge-content.ts';
import { ownerOf, ownerText } from '../copies/ownership.ts';
import { type CopyPlan, planCopy } from '../copies/plan-copy.ts';
import { recreate } from '../copies/write-copy.ts';
import { copiedMetadata } from '../metadata/copied-metadata.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { baseOf, formatBase } from './base.ts';
import { conflictOf, obstacleTo, tooManyKeys } from './obstacles.ts';
import { type ThreeWayResult, threeWay } from './three-way.ts';

/** BothSides is the source as it is now, and what became of the copy. */
export interface BothSides {
  readonly source: Source | undefined;
  readonly results: readonly CopyResult[];
}

/**
 * syncBothWays keeps a source and its copy the same, whichever of them somebody edits. The source is written first and the copy,
 * which remembers what both agree on, last: stopped in between, the next run finds the same edits and no new conflict.
 */
export async function syncBothWays(
  context: SyncContext,
  source: Source | undefined,
  targets: readonly Target[],
): Promise<BothSides> {
  const [target] = targets;
  if (!target) return { source, results: [] };
  const obstacle = problemOf(target);
  if (obstacle) return { source, results: [stopped(target, obstacle, copyTools(context).find(target))] };
  try {
    const sides = await syncWith(context, source, target);
    if (sides.results.every((result) => !result.obstacle)) await forgetResolution(context);
    return sides;
  } catch (error) {
    // Somebody else was quicker: the next run, which comes at once, sees it.
    if (isConflict(error) || isAlreadyExists(error) || context.signal.aborted) throw error;
    context.log.warn('a copy could not be synced', { copy: keyString(target), error });
    return { source, results: [failed(target, error, copyTools(context).find(target))] };
  }
}

async function syncWith(context: SyncContext, source: Source | undefined, target: Target): Promise<BothSides> {
  const cached = copyTools(context).find(target);
  if (source && cached && isSettled(context, source, cached)) return { source, results: [untouched(target, cached)] };
  const { namespace, name } = target;
  const copy = await context.live.find(ConfigMap, { namespace, name });
  if (source) return copy ? mergeSides(context, source, target, copy) : createFrom(context, source, target);
  if (copy && mayBecomeSource(context, copy)) {
    return mergeSides(context, await recreateSource(context, copy), target, copy);
  }
  return { source, results: waitForSource(context, [target]) };
}

/** Whether both sides hold what they last agreed on: what the cache knows is enough to tell. */
function isSettled(context: SyncContext, source: Source, copy: CopyView): boolean {
  return copy.marks.hasBase && planFor(context, copy, desiredOf(context, source, source.content)).step === 'keep';
}

function planFor(context: SyncContext, copy: CopyView, desired: DesiredCopy): CopyPlan {
  // What is a conflict is decided key by key, later.
  return planCopy(copy, desired, { ...copyRules(context), policy: 'SourceWins' });
}

function desiredOf({ object }: SyncContext, source: Source, content: Content): DesiredCopy {
  return desiredCopy(object, source, content, copiedMetadata(source.metadata, object.spec.metadata));
}

async function createFrom(context: SyncContext, source: Source, target: Target): Promise<BothSides> {
  const base = formatBase(keyHashes(source.content));
  const desired = desiredOf(context, source, source.content);
  if (base === undefined) {
    return { source, results: [{ target, deed: 'nothing', exists: false, obstacle: tooManyKeys }] };
  }
  const applied = { content: source.content, hash: desired.hash, base };
  return { source, results: [await createCopy(copyTools(context), target, desired, applied, { deed: 'created' })] };
}

/** A source that is gone comes back from its copy; from somebody else's ConfigMap, which nobody ever synced, it does not. */
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
  const made = { metadata: key, ...contentMembers(contentOf(copy)) };
  const source = await context.live.create(ConfigMap, made, { fieldManager: FIELD_MANAGER });
  context.event('Normal', 'Created', `created the source ${keyString(key)} again from ${keyString(keyOf(copy))}`);
  return sourceOf(source);
}

/** mergeSides gives each side what changed on the other. */
async function mergeSides(context: SyncContext, source: Source, target: Target, copy: ConfigMap): Promise<BothSides> {
  const view = viewOf(copy);
  const plan = planFor(context, view, desiredOf(context, source, source.content));
  if (plan.step === 'stop') return { source, results: [{ ...untouched(target, view), obstacle: plan.why }] };
  const isAdopted = plan.step === 'adopt';
  const agreed = isAdopted ? undefined : baseOf(copy);
  const merged = threeWay({
    base: agreed ?? {},
    source: source.content,
    destination: contentOf(copy),
    policy: context.object.spec.conflictPolicy,
    newer: isNewer(source, copy) ? 'source' : 'destination',
    resolve: resolutionOf(context),
  });
  const base = formatBase(merged.base);
  const obstacle = obstacleTo(merged, source.isImmutable);
  if (obstacle || base === undefined) {
    return { source, results: [{ ...untouched(target, view), obstacle: obstacle ?? tooManyKeys }] };
  }
  // Nobody knows what either side meant to keep.
  if (!agreed) await saveBoth(context, { source, copy, merged });
  const current = merged.writeSource ? await writeSource(context, source, target, merged.source) : source;
  const desired = desiredOf(context, current, merged.destination);
  const isThere =
    planFor(context, view, desired).step === 'keep' && base === copy.metadata?.annotations?.[ANNOTATIONS.base];
  const applied = { content: merged.destination, hash: desired.hash, base };
  const result = isThere
    ? untouched(target, view)
    : view.isImmutable && merged.writeDestination
      ? await replaceCopy(context, { target, desired, applied, view, copy, merged })
      : await patchCopy(copyTools(context), target, view, desired, applied, {
          withContent: merged.writeDestination,
          adopts: isAdopted,
          deed: isAdopted ? 'adopted' : merged.writeDestination ? 'updated' : 'marked',
        });
  return { source: current, results: [{ ...result, obstacle: conflictOf(merged) }] };
}

interface Replacement {
  readonly target: Target;
  readonly desired: DesiredCopy;
  readonly applied: Applied;
  readonly view: CopyView;
  readonly copy: ConfigMap;
  readonly merged: ThreeWayResult;
}

/** replaceCopy makes a copy anew that cannot be changed; it is ours, because the plan stops at an adopted one. */
async function replaceCopy(context: SyncContext, replacement: Replacement): Promise<CopyResult> {
  const { target, desired, applied, view, copy, merged } = replacement;
  const tools = copyTools(context);
  // Its side of a conflict is nowhere else: were it stopped in between, the copy would come back with that of the source.
  if (merged.conflicts.length > 0) await saveContent(tools, copy);
  return recreate(tools, target, desired, applied, view, copy);
}

async function saveBoth(
  { live }: SyncContext,
  { source, copy, merged }: { readonly source: Source; readonly copy: ConfigMap; readonly merged: ThreeWayResult },
): Promise<void> {
  const tools = { client: live, fieldManager: FIELD_MANAGER };
  if (losesSomething(contentOf(copy), merged.destination)) await saveContent(tools, copy);
  if (losesSomething(source.content, merged.source)) {
    await saveContent(tools, { metadata: source.metadata, ...contentMembers(source.content) });
  }
}

async function writeSource(context: SyncContext, source: Source, target: Target, content: Content): Promise<Source> {
  const { live, event } = context;
  const key = sourceKey(context);
  const patch = { type: 'strategic', body: contentPatch(source.metadata, source.content, content) } as const;
  const written = await live.patch(ConfigMap, key, patch, { fieldManager: FIELD_MANAGER });
  event('Normal', 'Updated', `updated the source ${keyString(key)} with what changed in ${keyString(target)}`);
  return sourceOf(written);
}

function isNewer(source: Source, copy: ConfigMap): boolean {
  return compareResourceVersions(source.resourceVersion, copy.metadata?.resourceVersion ?? '') !== -1;
}

/** resolutionOf is the side that somebody has decided for. */
function resolutionOf(context: SyncContext): 'Source' | 'Destination' | undefined {
  const asked = context.object.metadata?.annotations?.[REQUESTS.resolve];
  if (asked === 'Source' || asked === 'Destination') return asked;
  return forcedBy(context) === undefined ? undefined : 'Source';
}

/** forgetResolution takes the decision off the ConfigMapSync once it is carried out: it was about this conflict, not the next. */
async function forgetResolution({ object, key, live }: SyncContext): Promise<void> {
  if (object.metadata?.annotations?.[REQUESTS.resolve] === undefined) return;
  const body = { metadata: { annotations: { [REQUESTS.resolve]: null } } };
  await live.patch(ConfigMapSync, key, { type: 'merge', body }, { fieldManager: FIELD_MANAGER });
}
