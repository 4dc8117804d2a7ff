import { s } from '@bowline/runtime/resource';

/** MAX_POD_ROWS is the maximum number of reporting pods in a status; more are counted but not listed. */
export const MAX_POD_ROWS = 2_000;
/** MAX_DEVICES is the maximum number of devices in a pool and in a report. */
export const MAX_DEVICES = 1_024;

const podRow = s.object({
  podName: s.string().maxLength(253),
  podUID: s.string().maxLength(64),
  nodeName: s.string().maxLength(253),
  devicesFound: s.integer().min(0).describe('The number of devices in its latest report.'),
  lastReportTime: s.dateTime().describe('When the pod made the report, by the clock of its node.').optional(),
  observedTime: s.dateTime().describe("When the manager last observed a change of the report, by the manager's clock."),
  discoveryStatus: s.enum(['discovering', 'completed', 'error']),
  error: s.string().maxLength(1024).describe('Why the pod could not search its node.').optional(),
  fresh: s.boolean().describe('Whether the pod exists and reported within the grace period.'),
});

const deviceRow = s.object({
  id: s.string().maxLength(1536).describe('The serial number; for devices without one, the node and the path.'),
  devicePath: s.string().maxLength(1024),
  serialNumber: s.string().maxLength(128).optional(),
  nodeName: s.string().maxLength(253),
  lastSeen: s.dateTime().describe('When the device was last found, by the clock of its node.').optional(),
  lostSince: s.dateTime().describe('When the device stopped being available.').optional(),
  available: s.boolean(),
  health: s
    .enum(['Healthy', 'Stale', 'Unplugged', 'Claimed', 'Unknown'])
    .describe(
      'Stale: available, but its node has not reported in time. Unplugged: its node reported that it is missing. Claimed: it belongs to the pool of an older HSMDevice.',
    ),
  resourceName: s.string().maxLength(128).describe('The extended resource that pods request to use it.').optional(),
  role: s.enum(['Primary', 'ReadOnly', 'Standby']).optional(),
  mirroredFrom: s.string().maxLength(128).optional(),
  deviceInfo: s
    .map(s.string().maxLength(256))
    .maxProperties(16)
    .describe('What discovery found out about it.')
    .optional(),
});

const agentRow = s.object({
  serialNumber: s.string().maxLength(128),
  nodeName: s.string().maxLength(253),
  deployment: s.string().maxLength(253),
  ready: s.boolean(),
  reason: s.string().maxLength(1024).optional(),
  message: s.string().maxLength(1024).optional(),
  tokenLabel: s.string().maxLength(32).optional(),
  tokenSerial: s.string().maxLength(128).optional(),
  refusedPin: s
    .string()
    .maxLength(64)
    .describe('The resourceVersion of the PIN Secret that the token refused.')
    .optional(),
});

const mirroringStatus = s.object({
  enabled: s.boolean(),
  primarySerial: s.string().maxLength(128).optional(),
  primaryNode: s.string().maxLength(253).optional(),
  mirroredNodes: s.array(s.string().maxLength(253)).maxItems(MAX_DEVICES).listType('atomic').optional(),
  lastSyncTime: s.dateTime().optional(),
  failoverCount: s.integer().min(0).optional(),
  syncErrors: s.array(s.string().maxLength(1024)).maxItems(20).listType('atomic').optional(),
});

/**
 * poolStatus is the schema of the status of an HSMPool, except for conditions. Its lists are atomic: with one entry of
 * managed fields per row, a large pool would not fit into one object.
 */
export const poolStatus = s.object({
  phase: s.enum(['Pending', 'Aggregating', 'Ready', 'Partial', 'Error']).optional(),
  totalDevices: s.integer().min(0).describe('The number of devices.').optional(),
  availableDevices: s.integer().min(0).describe('The number of available devices within maxDevices.').optional(),
  expectedPods: s.integer().min(0).describe('The number of pods that should report.').optional(),
  reportingPodCount: s.integer().min(0).describe('The number of pods that have reported.').optional(),
  lastAggregationTime: s.dateTime().describe('When the lists last changed.').optional(),
  reportingPods: s.array(podRow).maxItems(MAX_POD_ROWS).listType('atomic').describe('By name.').optional(),
  aggregatedDevices: s.array(deviceRow).maxItems(MAX_DEVICES).listType('atomic').describe('By id.').optional(),
  agents: s.array(agentRow).maxItems(MAX_DEVICES).listType('atomic').describe('By serial number.').optional(),
  mirroring: mirroringStatus.optional(),
});
