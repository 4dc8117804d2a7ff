import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import { guardedMerge } from './guarded-merge.ts';
import type { WriteClient } from './write-client.ts';

/** FinalizerOptions configures the write. */
export interface FinalizerOptions {
  readonly fieldManager: string;
  readonly signal?: AbortSignal | undefined;
}

/** hasFinalizer reports whether an object has this finalizer. */
export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) ?? false;
}

/**
 * addFinalizer makes sure that an object is not removed before its cleanup. Call it before the first side effect. It
 * sends no request when the finalizer exists already, and never adds it to an object that is being deleted. It returns
 * the object as stored, or undefined when the object is gone: then do nothing for it.
 *
 * The patch carries uid and resourceVersion, so that a finalizer which another client adds or removes meanwhile is not
 * lost.
 */
export async function addFinalizer<T extends KubernetesObject>(
  client: WriteClient,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  options: FinalizerOptions,
): Promise<T | undefined> {
  assertQualified(finalizer);
  return guardedMerge(client, resource, object, options, (current) => {
    if (current.metadata?.deletionTimestamp !== undefined || hasFinalizer(current, finalizer)) return undefined;
    return { metadata: { finalizers: [...(current.metadata?.finalizers ?? []), finalizer] } };
  });
}

/**
 * removeFinalizer removes this finalizer from an object. Other finalizers stay. It sends no request when the finalizer
 * is missing.
 */
export async function removeFinalizer<T extends KubernetesObject>(
  client: WriteClient,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  options: FinalizerOptions,
): Promise<T | undefined> {
  return guardedMerge(client, resource, object, options, (current) => {
    if (!hasFinalizer(current, finalizer)) return undefined;
    return { metadata: { finalizers: current.metadata?.finalizers?.filter((name) => name !== finalizer) } };
  });
}

/**
 * isQualified reports whether a name is a domain, a slash and a name. The API server warns about other names: two tools
 * might use them for different purposes.
 */
export function isQualified(finalizer: string): boolean {
  return /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?\/[A-Za-z0-9](?:[-._A-Za-z0-9]*[A-Za-z0-9])?$/.test(finalizer);
}

function assertQualified(finalizer: string): void {
  if (isQualified(finalizer)) return;
  throw new BowlineError(
    'BOWLINE_FINALIZER_INVALID',
    `cannot use ${JSON.stringify(finalizer)} as a finalizer: use the form domain/name, such as example.com/cleanup`,
  );
}
