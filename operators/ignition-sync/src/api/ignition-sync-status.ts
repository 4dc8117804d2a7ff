import { s } from '@bowline/runtime/resource';

/** MAX_GATEWAYS is the maximum number of gateways of an IgnitionSync. */
export const MAX_GATEWAYS = 400;
/** MAX_PROJECTS is the maximum number of projects of a gateway that the status lists. */
export const MAX_PROJECTS = 50;
/** MAX_HISTORY is the maximum number of syncs of a gateway that the status lists. */
export const MAX_HISTORY = 10;
/** MAX_MESSAGE_LENGTH is the maximum length of the message of a gateway. */
export const MAX_MESSAGE_LENGTH = 512;

const text = (maxLength: number) => s.string().maxLength(maxLength);
const count = () => s.integer().min(0);
const commit = () => text(64);

const gatewaySnapshot = s.object({
  id: text(255).describe('The name of the snapshot.'),
  size: text(32).describe('Its size.').optional(),
  timestamp: s.dateTime().describe('When it was taken.').optional(),
});

const syncHistoryEntry = s.object({
  timestamp: s.dateTime().describe('When the sync ended.'),
  commit: commit(),
  result: text(64),
  duration: text(32).optional(),
});

const discoveredGateway = s.object({
  name: text(512).describe('The name of the gateway.'),
  namespace: text(63),
  podName: text(253),
  servicePath: text(1024).describe('Its folder in the repository.').optional(),
  syncStatus: s.enum(['Pending', 'Syncing', 'Synced', 'Error', 'MissingSidecar']),
  lastSyncTime: s.dateTime().optional(),
  lastSyncDuration: text(32).describe('For example 2.5s.').optional(),
  syncedCommit: commit().optional(),
  syncedRef: text(255).optional(),
  agentVersion: text(64).optional(),
  agentReady: s.boolean().describe('Whether the container of the agent is ready.').optional(),
  lastScanResult: text(256).describe('For example projects=200 config=200.').optional(),
  filesChanged: count().describe('The number of files that the last sync changed.').optional(),
  projectsSynced: s.array(text(255)).maxItems(MAX_PROJECTS).listType('atomic').optional(),
  driftedFiles: count().describe('The number of synced files that were changed on the gateway.').optional(),
  rejectedCommit: commit().describe('The commit that was rolled back.').optional(),
  message: text(MAX_MESSAGE_LENGTH).optional(),
  lastSnapshot: gatewaySnapshot.optional(),
  syncHistory: s.array(syncHistoryEntry).maxItems(MAX_HISTORY).listType('atomic').optional(),
});

/** ignitionSyncStatus is the schema of the status of an IgnitionSync, except for conditions. */
export const ignitionSyncStatus = s.object({
  lastSyncTime: s.dateTime().describe('When the commit last changed.').optional(),
  lastSyncRef: text(255).describe('The ref that was synced.').optional(),
  lastSyncCommit: commit().describe('The commit that was synced.').optional(),
  repoCloneStatus: s.enum(['NotCloned', 'Cloning', 'Cloned', 'Error']).optional(),
  discoveredGateways: s
    .array(discoveredGateway)
    .maxItems(MAX_GATEWAYS)
    .listMapBy('podName')
    .describe('The gateways, by name.')
    .optional(),
  rolledOut: s
    .object({ ref: text(255), commit: commit() })
    .describe('The last commit that all gateways had, and its ref.')
    .optional(),
  request: s
    .object({ ref: text(255), at: text(64), specRef: text(255) })
    .describe(
      'The requested ref that is synced, when it was requested, and spec.git.ref at that time: it ends when that changes.',
    )
    .optional(),
  currentStage: text(63).describe('The stage of the rollout.').optional(),
  pinnedHostKeys: s
    .array(text(128))
    .maxItems(16)
    .listType('atomic')
    .describe('The fingerprints of the host keys that are trusted because they were seen first.')
    .optional(),
});
