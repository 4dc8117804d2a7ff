import type { ObjectMeta } from './generated/meta-v1.ts';

/** KubernetesObject holds the fields that every stored object has. */
export interface KubernetesObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
}

/** StoredMeta is the metadata of an object that the API server has stored: these fields are always set. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** StoredObject is an object read from the API server, directly or through a cache. */
export interface StoredObject extends KubernetesObject {
  readonly metadata: StoredMeta;
}

/**
 * Stored is the type of a kind's objects as read from the server: `Stored<ConfigMap>` is a ConfigMap with a name and a
 * uid.
 */
export type Stored<T> = T & StoredObject;

/** ObjectKey names an object within its kind. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * keyString returns the form used by queues, logs and stores: `namespace/name`, or `name` for cluster-scoped objects.
 */
export function keyString(key: ObjectKey): string {
  return key.namespace ? `${key.namespace}/${key.name}` : key.name;
}

/** parseKey reverses `keyString`: neither part can contain a slash. */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** keyOf returns the key of an object. It throws if the object has no name, which never happens for a stored object. */
export function keyOf(object: KubernetesObject): ObjectKey {
  const { name, namespace } = object.metadata ?? {};
  if (!name) throw new TypeError('the object has no metadata.name');
  return namespace ? { namespace, name } : { name };
}
