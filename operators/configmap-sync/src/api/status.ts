import { s } from '@bowline/runtime/resource';

/**
 * MAX_DESTINATIONS is the maximum number of copies that the status lists: all of a large fan-out would not fit into
 * one object.
 */
export const MAX_DESTINATIONS = 100;

const destination = s.object({
  namespace: s.string(),
  name: s.string(),
  status: s
    .enum(['Synced', 'Pending', 'Conflict', 'Failed'])
    .describe(
      'Pending waits for a change in the cluster, such as a new namespace; Conflict waits for a decision by a user; Failed needs a correction, or is retried.',
    ),
  reason: s.string().describe('A machine-readable reason, in CamelCase.').optional(),
  message: s.string().describe('A human-readable description of the problem.').optional(),
  hash: s.string().describe('The hash of the content that was last written.').optional(),
  lastSyncTime: s.dateTime().describe('When the content was last written.').optional(),
});

/** status is the schema of the status of a ConfigMapSync, except for conditions. */
export const status = s.object({
  lastSyncTime: s.dateTime().describe('When a copy was last written.').optional(),
  syncStatus: s.enum(['Success', 'Failed', 'InProgress']).describe('The result of the last sync.').optional(),
  message: s.string().describe('A human-readable description of the last sync.').optional(),
  sourceExists: s.boolean().optional(),
  destinationExists: s.boolean().describe('Whether every copy exists.').optional(),
  retryCount: s.integer().min(0).describe('The number of consecutive failed syncs.').optional(),
  sourceHash: s.string().describe("The hash of the source's content.").optional(),
  sourceResourceVersion: s.string().describe('The resourceVersion of the source whose content was synced.').optional(),
  destinations: s
    .array(destination)
    .maxItems(MAX_DESTINATIONS)
    .listType('atomic')
    .describe(`The status of at most ${MAX_DESTINATIONS} copies, those that need attention first.`)
    .optional(),
  syncedCount: s.integer().min(0).describe('The number of copies that are in sync.').optional(),
  totalCount: s.integer().min(0).describe('The number of requested copies.').optional(),
  lastHandledForceSync: s.string().describe('The value of the force-sync annotation that was last handled.').optional(),
});
