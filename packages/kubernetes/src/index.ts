export type { ObjectOf, Resource, ResourceNames, Scope } from './describe-resource.ts';
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
export { apiVersionOf, parseApiVersion, resource } from './resource.ts';
