export { IgnitionSync } from './api/ignition-sync.ts';
export { DOMAIN, FINALIZER, GROUP, VERSION } from './api/names.ts';
export { SyncProfile } from './api/sync-profile.ts';
export { type IgnitionSyncOptions, ignitionSync, ignitionSyncWith } from './operator.ts';
