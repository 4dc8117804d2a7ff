import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { diffMergePatch } from '@bowline/machinery';
import { guardedMerge } from './guarded-merge.ts';
import type { WriteClient } from './write-client.ts';

/** StatusWriteOptions configures the write of a status. */
export interface StatusWriteOptions {
  readonly fieldManager: string;
  /** Defaults to `status`. For a kind without the subresource, pass `undefined` to write to the object itself. */
  readonly subresource?: 'status' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * writeStatus sets an object's status to the one that `next` computes from the stored one: at most one patch, none when
 * nothing changes. `object` must hold its whole status: the `metadata` view is not enough, read the object first.
 *
 * When the object changed meanwhile, it is read again and `next` is called again, so that conditions of other
 * controllers are kept. Returns the object as it is now; undefined when it is gone or another object has its name.
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

/** StatusPatch is the result of a status write. */
export interface StatusPatch<T> {
  /** Undefined when the object is gone or another object has its name. */
  readonly object: T | undefined;
  /** The fields of the status that were changed, sorted; none when nothing was sent. */
  readonly fields: readonly string[];
}

/** patchStatus is like `writeStatus`, but also returns what was changed. */
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
