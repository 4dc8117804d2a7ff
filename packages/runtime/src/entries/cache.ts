// The entry of `@bowline/runtime/cache`: informers, reflectors, stores and their views.
export { Cache, type CacheOptions, type InformerOptions } from '../cache/cache.ts';
export type { InformerHealth, InformerState, ReconnectReason } from '../cache/health.ts';
export type { Informer, InformerEvent, InformerHandler, ReadOptions } from '../cache/informer.ts';
export { Reflector, type ReflectorOptions } from '../cache/reflector.ts';
export type { ReflectorStatus } from '../cache/reflector-status.ts';
export type { ReflectorTarget, Snapshot } from '../cache/reflector-target.ts';
export type { Scope, ScopeOptions } from '../cache/scope.ts';
export { type IndexFunction, Store } from '../cache/store.ts';
export type {
  MetadataObject,
  MetadataProjectView,
  ProjectView,
  TriggerObject,
  TriggerReads,
  TriggerView,
  View,
  ViewOf,
} from '../cache/view.ts';
