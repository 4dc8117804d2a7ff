import { type KubernetesObject, keyOf, keyString, type ObjectKey, type Resource } from '@bowline/kubernetes';
import type { RemoveOptions, RemoveResult } from '@bowline/runtime/writing';
import { ANNOTATIONS } from '../api/names.ts';
import type { Child } from '../objects/child.ts';
import { MANAGED_BY } from '../objects/labels.ts';

/** PruneRun is the part of a run's context that finds and removes objects of any kind. */
export interface PruneRun {
  /** The operand. */
  readonly object: KubernetesObject;
  list(resource: Resource): readonly KubernetesObject[];
  remove(resource: Resource, key: ObjectKey, options?: RemoveOptions): Promise<RemoveResult>;
  isServed(resource: Resource): boolean;
}

/** PruneDecision is what happens to an object that is not rendered: `later` asks again after a while. */
export type PruneDecision = 'remove' | 'keep' | 'later';

/** PruneOptions configures which objects are removed. */
export interface PruneOptions {
  /** The kinds of the operand's objects. Workloads among them are ignored: their names never change. */
  readonly kinds: readonly Resource<KubernetesObject>[];
  /** Whether the pods of the operand use its current objects. Until then, what pods use is not removed. */
  readonly isRolledOut: boolean;
  /** decide returns what happens to an object that is not rendered. Defaults to `remove`. */
  readonly decide?:
    | ((resource: Resource, object: KubernetesObject) => PruneDecision | Promise<PruneDecision>)
    | undefined;
}

/** The kinds that pods need to start. */
const OF_PODS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'ServiceAccount']);

/**
 * prune removes the objects of an operand that are no longer rendered: those that have its owner reference and our label.
 * Both are read from the cluster, so that it does not matter which process created them. It returns whether nothing is left
 * to remove later.
 */
export async function prune(run: PruneRun, rendered: readonly Child[], options: PruneOptions): Promise<boolean> {
  const { kinds, isRolledOut, decide = () => 'remove' as const } = options;
  const wanted = new Set(rendered.map(({ resource, object }) => identify(resource, object)));
  let isComplete = true;
  for (const resource of kinds) {
    if (resource.group === 'apps' || !run.isServed(resource)) continue;
    if (OF_PODS.has(resource.kind) && !isRolledOut) continue;
    for (const object of run.list(resource)) {
      if (wanted.has(identify(resource, object)) || !isPrunable(run, object)) continue;
      const decision = await decide(resource, object);
      if (decision === 'later') isComplete = false;
      if (decision !== 'remove') continue;
      await run.remove(resource, keyOf(object), { labels: MANAGED_BY, uid: object.metadata?.uid });
    }
  }
  return isComplete;
}

function identify(resource: Resource, object: KubernetesObject): string {
  return `${resource.id} ${keyString(keyOf(object))}`;
}

/** The label alone is not enough: users copy objects with their labels. */
function isPrunable({ object: operand }: PruneRun, { metadata }: KubernetesObject): boolean {
  const { labels, annotations, ownerReferences = [], deletionTimestamp } = metadata ?? {};
  return (
    deletionTimestamp === undefined &&
    Object.entries(MANAGED_BY).every(([name, value]) => labels?.[name] === value) &&
    ownerReferences.some(({ uid }) => uid === operand.metadata?.uid) &&
    annotations?.[ANNOTATIONS.createOnly] !== 'true'
  );
}
