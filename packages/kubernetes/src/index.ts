export * from './generated/coordination-v1.ts';
export * from './generated/core-v1.ts';
export * from './generated/meta-v1.ts';
export { type KubernetesObject, keyOf, keyString, type ObjectKey, parseKey } from './object.ts';
export { apiVersionOf, type ObjectOf, type Resource, resource, type Scope } from './resource.ts';
