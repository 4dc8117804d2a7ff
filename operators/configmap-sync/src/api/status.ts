import { s } from '@bowline/runtime/resource';

/**
 * MOST_DESTINATIONS is the maximum number of copies that the status lists: all of a large fan-out would not fit into
 * one object.
 */
export const MOST_DESTINATIONS = 100;

const destination = s.object({
  namespace: s.string(),
  name: s.string(),
  status: s
    .enum(['Synced', 'Pending', 'Conflict', 'Failed'])
    .describe('Pending waits for something, such as a namespace; Conflict waits for a person.'),
  reason: s.string().describe('One word that says why, for programs.').optional(),
  message: s.string().describe('What people should know.').optional(),
  hash: s.string().describe('The hash of the content that was last written.').optional(),
  lastSyncTime: s.dateTime().describe('When the content was last written.').optional(),
});

/** status is the schema of the status of a ConfigMapSync, except for conditions. */
export const status = s.object({
  lastSyncTime: s.dateTime().describe('When a copy was last written.').optional(),
  syncStatus: s.enum(['Success', 'Failed', 'InProgress']).describe('How the last sync went.').optional(),
  message: s.string().describe('What people should know about the last sync.').optional(),
  sourceExists: s.boolean().optional(),
  destinationExists: s.boolean().describe('Whether every copy exists.').optional(),
  retryCount: s.integer().min(0).describe('How often in a row a sync has failed.').optional(),
  sourceHash: s.string().describe("The hash of the source's content.").optional(),
  sourceResourceVersion: s.string().describe('The version of the source whose content was synced.').optional(),
  destinations: s
    .array(destination)
    .maxItems(MOST_DESTINATIONS)
    .listType('atomic')
    .describe(`What holds of each copy; of many, ${MOST_DESTINATIONS}: those that need attention first.`)
    .optional(),
  syncedCount: s.integer().min(0).describe('How many copies are as they should be.').optional(),
  totalCount: s.integer().min(0).describe('How many copies there should be.').optional(),
  lastHandledForceSync: s.string().describe('The value of the force-sync annotation that was last obeyed.').optional(),
});
