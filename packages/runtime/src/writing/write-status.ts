import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { diffMergePatch } from '@bowline/machinery';
import { guardedMerge } from './guarded-merge.ts';
import type { WriteClient } from './write-client.ts';

/** StatusWriteOptions says who writes and from where. */
export interface StatusWriteOptions {
  readonly fieldManager: string;
  /** Defaults to `status`. Kinds without the subresource write to the object itself: give `undefined`. */
  readonly subresource?: 'status' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * writeStatus brings an object's status to what `next` makes of the stored one: at most one patch, none when nothing changes.
 * `object` must hold its whole status: what a `metadata` view keeps of it is not enough, read it first.
 *
 * When the object changed meanwhile it is read again and `next` asked again, so that others' conditions survive. Answers the
 * object as it is now; undefined when it is gone or another object has its name.
 */
export async function writeStatus<T extends KubernetesObject & { readonly status?: unknown }>(
  client: WriteClient,
  resource: Resource<T>,
  object: T,
  next: (stored: T['status']) => T['status'],
  options: StatusWriteOptions,
): Promise<T | undefined> {
  return (await patchStatus(client, resource, object, next, options)).object;
}

/** StatusPatch is what became of a status. */
export interface StatusPatch<T> {
  /** Undefined when it is gone or another object has its name. */
  readonly object: T | undefined;
  /** The fields of the status that were changed, sorted; none when nothing was sent. */
  readonly fields: readonly string[];
}

/** patchStatus is `writeStatus` that also returns what was changed. */
export async function patchStatus<T extends KubernetesObject & { readonly status?: unknown }>(
  client: WriteClient,
  resource: Resource<T>,
  object: T,
  next: (stored: T['status']) => T['status'],
  options: StatusWriteOptions,
): Promise<StatusPatch<T>> {
  const { fieldManager, signal } = options;
  const subresource = 'subresource' in options ? options.subresource : 'status';
  let fields: readonly string[] = [];
  const stored = await guardedMerge(
    client,
    resource,
    object,
    { fieldManager, signal, ...(subresource === undefined ? {} : { subresource }) },
    (current) => {
      const change = diffMergePatch(current.status ?? {}, next(current.status) ?? {});
      fields = change === undefined ? [] : Object.keys(change as object).sort();
      return change === undefined ? undefined : { status: change };
    },
  );
  return { object: stored, fields };
}
