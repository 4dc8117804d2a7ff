import type { KubernetesObject, Status } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';

/**
 * DeletionMode is what was asked for the dependents of an object that is being deleted:
 * - `background`: they go after it, by the garbage collector;
 * - `foreground`: they go first; the garbage collector has marked them already, so wait for them;
 * - `orphan`: they stay; take nothing with it.
 */
export type DeletionMode = 'background' | 'foreground' | 'orphan';

/** Deletion is the state of an object that is being deleted. */
export interface Deletion {
  /** Wall time of the deletionTimestamp: when it was asked for, or when the grace period ends. */
  readonly at: number;
  readonly mode: DeletionMode;
}

/**
 * deletionOf is how an object is being deleted; undefined when it is not. `annotation` is the one by which an operator keeps on
 * the object that its dependents stay; without it the finalizers alone tell.
 */
export function deletionOf(object: KubernetesObject, annotation?: string): Deletion | undefined {
  const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
  if (deletionTimestamp === undefined) return undefined;
  const mode =
    finalizers.includes('orphan') || (annotation !== undefined && isKeptAsOrphaning(object, annotation))
      ? 'orphan'
      : finalizers.includes('foregroundDeletion')
        ? 'foreground'
        : 'background';
  return { at: parseTime(deletionTimestamp), mode };
}

/**
 * isKeptAsOrphaning says whether an annotation keeps on the object, whatever its finalizers are by now, that its dependents stay.
 * The API server says so by a finalizer, which the garbage collector takes off once no dependent names the object as its owner
 * any more: long before a cleanup that failed, or was interrupted, comes to its end.
 */
export function isKeptAsOrphaning({ metadata }: KubernetesObject, annotation: string): boolean {
  return metadata?.annotations?.[annotation] === 'orphan';
}

/** isStatus tells an answer to a deletion that says that the object is gone from one that shows it. */
export function isStatus(answer: KubernetesObject | Status): answer is Status {
  return answer.kind === 'Status' && answer.apiVersion === 'v1';
}

/**
 * livesOn says whether an object, as a deletion answered it, is still there. Some kinds (Pods, Services, …) answer with the
 * object although it is gone: it lives on only while finalizers or a grace period hold it. A Namespace has its finalizers in
 * its spec.
 */
export function livesOn(object: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata ?? {};
  if (deletionTimestamp === undefined) return false;
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } };
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || (spec?.finalizers?.length ?? 0) > 0;
}
