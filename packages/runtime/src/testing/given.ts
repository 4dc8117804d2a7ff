import type { KubernetesObject, ObjectOf, Resource } from '@bowline/kubernetes';
import { isCustomResource, type WrittenOf } from '../resource/custom-resource.ts';

/** GivenObject is an object that exists when a unit test begins. */
export interface GivenObject {
  readonly kind: Resource<KubernetesObject>;
  readonly object: KubernetesObject;
}

/**
 * given returns an object of a kind, as its author writes it: defaults are applied, and uid, resourceVersion,
 * generation and creationTimestamp are set if they are missing. A status is kept.
 *
 * @example
 * given(Site, { metadata: { namespace: 'shop', name: 'a' }, spec: { title: 'hello' } });
 */
export function given<R extends Resource<KubernetesObject>>(kind: R, object: WrittenOf<R> | ObjectOf<R>): GivenObject {
  return { kind, object: completed(kind, object) };
}

/** completed returns an object with the defaults of its kind. */
export function completed(kind: Resource<KubernetesObject>, object: KubernetesObject): KubernetesObject {
  return isCustomResource(kind) ? kind.withDefaults(object) : object;
}
