import type { KubernetesObject, ObjectOf, Resource } from '@bowline/kubernetes';

/** Child is an object of an operand, as it is rendered. */
export interface Child<T extends KubernetesObject = KubernetesObject> {
  readonly resource: Resource<T>;
  readonly object: T;
  /** The type of the condition that reports about it. */
  readonly condition: string;
}

/** child returns a rendered object. */
export function child<R extends Resource<KubernetesObject>>(
  condition: string,
  resource: R,
  object: ObjectOf<R>,
): Child {
  // The signature has checked that the object belongs to the kind.
  return { resource, object, condition };
}
