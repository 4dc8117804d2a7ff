export * from './generated/entry.ts';
export {
  type KubernetesObject,
  keyOf,
  keyString,
  type ObjectKey,
  parseKey,
  type Stored,
  type StoredMeta,
  type StoredObject,
} from './object.ts';
export {
  apiVersionOf,
  type ObjectOf,
  parseApiVersion,
  type Resource,
  type ResourceNames,
  resource,
  type Scope,
} from './resource.ts';
