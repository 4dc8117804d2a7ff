export {
  ConfigMapSync,
  type DestinationStatus,
  type Spec,
  type Status,
  type Transform,
} from './api/config-map-sync.ts';
export { ANNOTATIONS, FINALIZER, GROUP, LABELS, MANAGED_BY, MANAGER, REQUESTS } from './api/names.ts';
export { configMapSync } from './operator.ts';
