import {
  apiVersionOf,
  type KubernetesObject,
  keyOf,
  keyString,
  type ObjectKey,
  type Resource,
} from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import { type Deletion, deletionOf } from './deletion.ts';
import { removeFinalizer } from './finalizers.ts';
import type { Removed } from './guarded-delete.ts';
import type { WriteTools } from './write-client.ts';
import type { RemoveOptions } from './writer.ts';

/** Leftover is an object that a cleanup still has to see gone. */
export interface Leftover<T extends KubernetesObject = KubernetesObject> {
  readonly resource: Resource<T>;
  readonly object: T;
}

/** CleanupTier is a set of objects that go together, after those of the tiers before it are gone. */
export interface CleanupTier {
  /** For messages: `agents`. */
  readonly name: string;
  /**
   * find answers the tier's objects that still exist, ours only, from the cluster. It must throw rather than answer too few:
   * an empty answer means that the next tier may go.
   */
  readonly find: () => Promise<readonly Leftover[]> | readonly Leftover[];
  /** How long an object may take to go, from its deletionTimestamp. Defaults to the cleanup's. */
  readonly timeoutMs?: number | undefined;
  /** A finalizer of ours to take off an object whose time is over. Defaults to none: it is waited for, for ever. */
  readonly forcedFinalizer?: string | undefined;
}

/** CleanupOptions configures a cleanup in tiers. */
export interface CleanupOptions {
  /** How the object is being deleted that the others belong to: a cleanup's `ctx.deletion`. */
  readonly deletion: Deletion;
  /**
   * remove deletes one object if it is ours, and says so when it is being deleted; a writer's `remove` with its uid and with
   * what it is given here: after a foreground deletion the object, too, goes after its dependents.
   */
  readonly remove: (leftover: Leftover, options: Pick<RemoveOptions, 'propagationPolicy'>) => Promise<Removed>;
  /**
   * release gives up one object that stays because the deletion orphans; see the function `release`. Take off what only we
   * would, such as a finalizer of ours. Asked again when anything failed. Defaults to leaving them as they are: one that is
   * made again under the same name finds its objects by their labels.
   */
  readonly release?: ((leftover: Leftover) => Promise<unknown>) | undefined;
  /** How long an object may take to go. Defaults to 30 s. */
  readonly timeoutMs?: number | undefined;
  /** When to look again although no event came. Defaults to 2 s. */
  readonly pollMs?: number | undefined;
}

/** Waiting is an object that a cleanup waits for. */
export interface Waiting {
  readonly apiVersion: string;
  readonly kind: string;
  readonly key: ObjectKey;
  /** Wall time at which its time is over. */
  readonly deadline: number;
  readonly isOverdue: boolean;
  /** The finalizers that hold it. */
  readonly finalizers: readonly string[];
  /** Whether our finalizer was taken off because its time was over. */
  readonly wasForced: boolean;
}

/** CleanupProgress is where a cleanup stands. Nothing of it has to be kept: the next run finds it in the cluster again. */
export interface CleanupProgress {
  readonly isDone: boolean;
  /** The tier that is waited for. */
  readonly tier?: string | undefined;
  readonly waiting: readonly Waiting[];
  /** Present while it is not done. */
  readonly requeueAfterMs?: number | undefined;
}

/** How many objects of a tier are looked at together. */
const AT_A_TIME = 16;

/**
 * cleanUpTiers takes the next step of a cleanup: in the first tier that has objects left, those that are not yet being
 * deleted are, and the rest is waited for. Call it from every reconcile of the object that is being deleted, and remove its
 * finalizer when it is done. It is safe to stop at any point. One object that fails holds up its tier, but none of its
 * neighbours.
 *
 * The way in which the object is being deleted holds for its tiers: `orphan` deletes and waits for nothing; after
 * `foreground` a tier is gone when what depends on its objects is.
 */
export async function cleanUpTiers(
  tools: WriteTools,
  tiers: readonly CleanupTier[],
  options: CleanupOptions,
): Promise<CleanupProgress> {
  const { clock } = tools;
  const { pollMs = 2_000, deletion, release } = options;
  if (deletion.mode === 'orphan') {
    if (release) for (const tier of tiers) await forEachLeftover(tier, tools, release);
    return { isDone: true, waiting: [] };
  }
  for (const tier of tiers) {
    const waiting: Waiting[] = [];
    await forEachLeftover(tier, tools, async (leftover) => {
      const state = await takeDown(tools, leftover, tier, options);
      if (state) waiting.push(state);
    });
    if (waiting.length === 0) continue;
    const next = waiting.map(({ deadline, isOverdue }) => (isOverdue ? pollMs : deadline - clock.now() + 1));
    return {
      isDone: false,
      tier: tier.name,
      waiting: waiting.toSorted((a, b) => keyString(a.key).localeCompare(keyString(b.key))),
      requeueAfterMs: Math.max(1, Math.min(pollMs, ...next)),
    };
  }
  return { isDone: true, waiting: [] };
}

/** forEachLeftover does something with every object of a tier; throws the first failure when all have had their turn. */
async function forEachLeftover(
  tier: CleanupTier,
  { signal }: Pick<WriteTools, 'signal'>,
  work: (leftover: Leftover) => Promise<unknown>,
): Promise<void> {
  const [failure] = await forEachConcurrently(await tier.find(), AT_A_TIME, work, { signal });
  if (failure) throw failure.error;
}

/** takeDown does for one object what can be done now; undefined when it is gone, or was not ours. */
async function takeDown(
  { live, clock, fieldManager, signal }: WriteTools,
  leftover: Leftover,
  tier: CleanupTier,
  options: CleanupOptions,
): Promise<Waiting | undefined> {
  const { deletion } = options;
  const propagationPolicy = deletion.mode === 'foreground' ? 'Foreground' : 'Background';
  const limitMs = tier.timeoutMs ?? options.timeoutMs ?? 30_000;
  // Also for one that is being deleted: only `remove` knows whether it is ours.
  const { outcome, metadata } = await options.remove(leftover, { propagationPolicy });
  if (outcome !== 'terminating') return undefined;
  const object = { ...leftover.object, metadata };
  const state = waitingFor(leftover, object, limitMs, clock);
  const { forcedFinalizer } = tier;
  if (!state.isOverdue || !forcedFinalizer || !state.finalizers.includes(forcedFinalizer)) return state;
  const freed = await removeFinalizer(live, leftover.resource, object, forcedFinalizer, { fieldManager, signal });
  if (!freed?.metadata?.finalizers?.length) return undefined;
  return { ...waitingFor(leftover, freed, limitMs, clock), wasForced: true };
}

function waitingFor(
  leftover: Leftover,
  object: KubernetesObject,
  limitMs: number,
  clock: WriteTools['clock'],
): Waiting {
  const { resource } = leftover;
  const deadline = (deletionOf(object)?.at ?? clock.now()) + limitMs;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    key: keyOf(leftover.object),
    deadline,
    isOverdue: clock.now() > deadline,
    finalizers: object.metadata?.finalizers ?? [],
    wasForced: false,
  };
}
