import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { mirroring } from './mirroring.ts';
import { GROUP, VERSION } from './names.ts';
import { poolStatus } from './pool-status.ts';

const poolSpec = s.object({
  hsmDeviceRef: s.dnsLabel().immutable().describe('The name of the HSMDevice, in the same namespace.'),
  gracePeriod: s
    .duration()
    .min('3s')
    .max('24h')
    .default('5m')
    .describe('How long a device stays available without a report, and listed after that.'),
  mirroring: mirroring.describe('How secrets are copied between the devices.').optional(),
});

/** HSMPool is the resource: the devices that were found for an HSMDevice. */
export const HSMPool = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'HSMPool',
  scope: 'Namespaced',
  shortNames: ['hsmpool'],
  categories: ['bowline'],
  description: 'HSMPool holds the devices that were found for an HSMDevice.',
  spec: poolSpec,
  status: poolStatus,
  columns: [
    { name: 'HSMDevice', path: '.spec.hsmDeviceRef' },
    { name: 'Total', path: '.status.totalDevices' },
    { name: 'Available', path: '.status.availableDevices' },
    { name: 'Phase', path: '.status.phase' },
    { name: 'Reporting', path: '.status.reportingPodCount', priority: 1 },
    { name: 'Expected', path: '.status.expectedPods', priority: 1 },
    { name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
    { name: 'Age', path: '.metadata.creationTimestamp', type: 'date', priority: 1 },
  ],
});

/** HSMPool is the type of the object. */
export type HSMPool = ObjectOf<typeof HSMPool>;

/** PoolStatus is the status of an HSMPool. */
export type PoolStatus = NonNullable<HSMPool['status']>;

/** PodRow is the latest known state of a reporting pod. */
export type PodRow = NonNullable<PoolStatus['reportingPods']>[number];

/** DeviceRow is the latest known state of a device. */
export type DeviceRow = NonNullable<PoolStatus['aggregatedDevices']>[number];
