import type { KubernetesObject, Status } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';

/**
 * DeletionMode is what happens to the dependents of an object that is being deleted:
 * - `background`: the garbage collector deletes them after it;
 * - `foreground`: they are deleted first; the garbage collector has marked them already, so wait for them;
 * - `orphan`: they stay; delete nothing with it.
 */
export type DeletionMode = 'background' | 'foreground' | 'orphan';

/** Deletion is the state of an object that is being deleted. */
export interface Deletion {
  /** Wall time of the deletionTimestamp: when the deletion was requested, or when the grace period ends. */
  readonly at: number;
  readonly mode: DeletionMode;
}

/**
 * deletionOf returns how an object is being deleted; undefined when it is not. `annotation` is the annotation with
 * which an operator records on the object that its dependents stay; without it only the finalizers decide.
 */
export function deletionOf(object: KubernetesObject, annotation?: string): Deletion | undefined {
  const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
  if (deletionTimestamp === undefined) return undefined;
  const mode =
    finalizers.includes('orphan') || (annotation !== undefined && isRecordedAsOrphaning(object, annotation))
      ? 'orphan'
      : finalizers.includes('foregroundDeletion')
        ? 'foreground'
        : 'background';
  return { at: parseTime(deletionTimestamp), mode };
}

/**
 * isRecordedAsOrphaning reports whether an annotation records on the object that its dependents stay, whatever its
 * finalizers are by now. The API server records this as a finalizer, which the garbage collector removes once no
 * dependent names the object as its owner any more: long before a cleanup that failed, or was interrupted, is complete.
 */
export function isRecordedAsOrphaning({ metadata }: KubernetesObject, annotation: string): boolean {
  return metadata?.annotations?.[annotation] === 'orphan';
}

/**
 * isStatus distinguishes a response to a deletion that reports that the object is gone from one that contains the
 * object.
 */
export function isStatus(response: KubernetesObject | Status): response is Status {
  return response.kind === 'Status' && response.apiVersion === 'v1';
}

/**
 * stillExists reports whether an object that a deletion returned still exists. For some kinds (Pods, Services, …) the
 * server returns the object although it is gone: it still exists only while finalizers or a grace period hold it. A
 * Namespace has its finalizers in its spec.
 */
export function stillExists(object: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata ?? {};
  if (deletionTimestamp === undefined) return false;
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } };
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || (spec?.finalizers?.length ?? 0) > 0;
}
