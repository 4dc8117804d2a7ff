export * from './generated/entry.ts';
export { type KubernetesObject, keyOf, keyString, type ObjectKey, parseKey } from './object.ts';
export { apiVersionOf, type ObjectOf, parseApiVersion, type Resource, resource, type Scope } from './resource.ts';
