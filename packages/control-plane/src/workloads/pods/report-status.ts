import { type KubernetesObject, keyOf, type Resource } from '@bowline/kubernetes';
import { diffMergePatch } from '@bowline/machinery';
import { isNotFound } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { sameJson } from '../../node-agent/same-json.ts';

/**
 * reportStatus writes a status if it differs, provided no other client has changed the object: its lists are replaced
 * as a whole. It returns the object after the write.
 */
export async function reportStatus<T extends KubernetesObject & { readonly status?: object | undefined }>(
  live: LiveClient,
  resource: Resource<T>,
  object: T,
  status: NonNullable<T['status']>,
): Promise<T> {
  if (sameJson(withoutZeros(object.status ?? {}), withoutZeros(status))) return object;
  const { uid, resourceVersion } = object.metadata ?? {};
  const body = { metadata: { uid, resourceVersion }, status: diffMergePatch(object.status ?? {}, status) };
  try {
    return await live.patch(resource, keyOf(object), { type: 'merge', body }, { subresource: 'status' });
  } catch (error) {
    if (isNotFound(error)) return object;
    throw error;
  }
}

/** The API server omits most counts that are 0. */
function withoutZeros(status: object): object {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0));
}
