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
import type { RemoveResult } from './guarded-delete.ts';
import type { WriteTools } from './write-client.ts';
import type { RemoveOptions } from './writer.ts';

/** Leftover is an object whose deletion a cleanup still waits for. */
export interface Leftover<T extends KubernetesObject = KubernetesObject> {
  readonly resource: Resource<T>;
  readonly object: T;
}

/** CleanupTier is a set of objects that are deleted together, after those of the previous tiers are gone. */
export interface CleanupTier {
  /** For messages: `agents`. */
  readonly name: string;
  /**
   * find returns the tier's objects that still exist, ours only, from the cluster. It must throw rather than return too
   * few: an empty result means that the next tier may be deleted.
   */
  readonly find: () => Promise<readonly Leftover[]> | readonly Leftover[];
  /** How long the deletion of an object may take, from its deletionTimestamp. Defaults to the cleanup's. */
  readonly timeoutMs?: number | undefined;
  /**
   * A finalizer of ours to remove from an object whose time is over. Defaults to none: the cleanup waits without limit.
   */
  readonly forcedFinalizer?: string | undefined;
}

/** CleanupOptions configures a cleanup in tiers. */
export interface CleanupOptions {
  /** How the object that the others belong to is being deleted: a cleanup's `ctx.deletion`. */
  readonly deletion: Deletion;
  /**
   * remove deletes one object if it is ours, and reports whether it is being deleted: call a writer's `remove` with the
   * uid and with the options passed here. After a foreground deletion the object, too, is deleted after its dependents.
   */
  readonly remove: (leftover: Leftover, options: Pick<RemoveOptions, 'propagationPolicy'>) => Promise<RemoveResult>;
  /**
   * release gives up one object that stays because the deletion orphans; see the function `release`. Remove what only
   * we would remove, such as a finalizer of ours. It is called again when anything failed. Defaults to leaving the
   * objects as they are: a parent that is recreated under the same name finds its objects by their labels.
   */
  readonly release?: ((leftover: Leftover) => Promise<unknown>) | undefined;
  /** How long the deletion of an object may take. Defaults to 30 s. */
  readonly timeoutMs?: number | undefined;
  /** When to check again if no event arrives. Defaults to 2 s. */
  readonly pollMs?: number | undefined;
}

/** WaitingObject is an object that a cleanup waits for. */
export interface WaitingObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly key: ObjectKey;
  /** Wall time at which its time limit ends. */
  readonly deadline: number;
  readonly isOverdue: boolean;
  /** The finalizers that hold the object. */
  readonly finalizers: readonly string[];
}

/** ForcedFinalizer is a finalizer of ours that was removed from an object because its time was over. */
export interface ForcedFinalizer {
  readonly apiVersion: string;
  readonly kind: string;
  readonly key: ObjectKey;
  readonly finalizer: string;
}

/** CleanupProgress is the state of a cleanup. It need not be stored: the next run reads it from the cluster again. */
export interface CleanupProgress {
  readonly isDone: boolean;
  /** The tier that the cleanup waits for. */
  readonly tier?: string | undefined;
  readonly waiting: readonly WaitingObject[];
  /**
   * The finalizers that this step removed by force, whether or not their objects still exist: report or count them, as
   * no later step returns them again. A step that throws does not return them either.
   */
  readonly forced: readonly ForcedFinalizer[];
  /** Set until the cleanup is done. */
  readonly requeueAfterMs?: number | undefined;
}

/** How many objects of a tier are processed concurrently. */
const MAX_CONCURRENT = 16;

/**
 * cleanUpTiers takes the next step of a cleanup: in the first tier that has objects left, it deletes those that are not
 * yet being deleted, and waits for the rest. Call it from every reconcile of the object that is being deleted, and
 * remove its finalizer when it is done. It is safe to stop at any point. An object that fails holds up its tier, but
 * not the other objects of the tier.
 *
 * The deletion mode of the object applies to its tiers: `orphan` deletes nothing and waits for nothing; with
 * `foreground` a tier is gone when the dependents of its objects are gone too.
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
    return { isDone: true, waiting: [], forced: [] };
  }
  const forced: ForcedFinalizer[] = [];
  for (const tier of tiers) {
    const waiting: WaitingObject[] = [];
    await forEachLeftover(tier, tools, async (leftover) => {
      const state = await removeLeftover(tools, leftover, tier, options);
      if (state.waiting) waiting.push(state.waiting);
      if (state.forced) forced.push(state.forced);
    });
    if (waiting.length === 0) continue;
    const next = waiting.map(({ deadline, isOverdue }) => (isOverdue ? pollMs : deadline - clock.now() + 1));
    return {
      isDone: false,
      tier: tier.name,
      waiting: waiting.toSorted(byKey),
      forced: forced.toSorted(byKey),
      requeueAfterMs: Math.max(1, Math.min(pollMs, ...next)),
    };
  }
  return { isDone: true, waiting: [], forced: forced.toSorted(byKey) };
}

function byKey(a: { readonly key: ObjectKey }, b: { readonly key: ObjectKey }): number {
  return keyString(a.key).localeCompare(keyString(b.key));
}

/** forEachLeftover calls `work` for every object of a tier, and throws the first failure after all calls have ended. */
async function forEachLeftover(
  tier: CleanupTier,
  { signal }: Pick<WriteTools, 'signal'>,
  work: (leftover: Leftover) => Promise<unknown>,
): Promise<void> {
  const [failure] = await forEachConcurrently(await tier.find(), MAX_CONCURRENT, work, { signal });
  if (failure) throw failure.error;
}

/** LeftoverState holds what is left of one object; nothing is set when the object is gone, or was not ours. */
interface LeftoverState {
  readonly waiting?: WaitingObject;
  readonly forced?: ForcedFinalizer;
}

/** removeLeftover does what is possible now for one object. */
async function removeLeftover(
  { live, clock, fieldManager, signal }: WriteTools,
  leftover: Leftover,
  tier: CleanupTier,
  options: CleanupOptions,
): Promise<LeftoverState> {
  const { deletion } = options;
  const propagationPolicy = deletion.mode === 'foreground' ? 'Foreground' : 'Background';
  const limitMs = tier.timeoutMs ?? options.timeoutMs ?? 30_000;
  // Also for an object that is being deleted: only `remove` knows whether it is ours.
  const { outcome, metadata } = await options.remove(leftover, { propagationPolicy });
  if (outcome !== 'terminating') return {};
  const object = { ...leftover.object, metadata };
  const waiting = waitingFor(leftover, object, limitMs, clock);
  const { forcedFinalizer: finalizer } = tier;
  if (!waiting.isOverdue || !finalizer || !waiting.finalizers.includes(finalizer)) return { waiting };
  const released = await removeFinalizer(live, leftover.resource, object, finalizer, { fieldManager, signal });
  // It was gone already.
  if (!released) return {};
  const { apiVersion, kind, key } = waiting;
  const forced = { apiVersion, kind, key, finalizer };
  if (!released.metadata?.finalizers?.length) return { forced };
  return { waiting: waitingFor(leftover, released, limitMs, clock), forced };
}

function waitingFor(
  leftover: Leftover,
  object: KubernetesObject,
  limitMs: number,
  clock: WriteTools['clock'],
): WaitingObject {
  const { resource } = leftover;
  const deadline = (deletionOf(object)?.at ?? clock.now()) + limitMs;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    key: keyOf(leftover.object),
    deadline,
    isOverdue: clock.now() > deadline,
    finalizers: object.metadata?.finalizers ?? [],
  };
}
