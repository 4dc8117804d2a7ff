import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource } from '@bowline/runtime/resource';
import { GROUP } from './names.ts';
import { spec } from './spec.ts';
import { status } from './status.ts';

/** ConfigMapSync is the resource: one source ConfigMap, and the destinations of its copies. */
export const ConfigMapSync = defineResource({
  group: GROUP,
  version: 'v1',
  kind: 'ConfigMapSync',
  scope: 'Namespaced',
  shortNames: ['cms', 'cmsync'],
  categories: ['bowline'],
  description: 'ConfigMapSync keeps copies of a ConfigMap in other namespaces in sync with it.',
  spec,
  status,
  columns: [
    { name: 'Source', path: '.spec.sourceNamespace', description: 'The namespace of the source.' },
    { name: 'ConfigMap', path: '.spec.configMapName', description: 'The name of the source.' },
    { name: 'Destinations', path: '.status.totalCount', description: 'The number of requested copies.' },
    { name: 'Synced', path: '.status.syncedCount', description: 'The number of copies that are in sync.' },
    { name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'LastSync', path: '.status.lastSyncTime', type: 'date', description: 'When a copy was last written.' },
    { name: 'Reason', path: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
    { name: 'Destination', path: '.spec.destinationNamespace', priority: 1 },
  ],
});

/** ConfigMapSync is the type of the object. */
export type ConfigMapSync = ObjectOf<typeof ConfigMapSync>;

/** Spec is the spec of a ConfigMapSync, with defaults filled in. */
export type Spec = ConfigMapSync['spec'];

/** Transform is one step from the source's content to that of the copies; exactly one member is set. */
export type Transform = NonNullable<Spec['transforms']>[number];

/** Status is the status of a ConfigMapSync. */
export type Status = NonNullable<ConfigMapSync['status']>;

/** DestinationStatus is the status of one copy. */
export type DestinationStatus = NonNullable<Status['destinations']>[number];
