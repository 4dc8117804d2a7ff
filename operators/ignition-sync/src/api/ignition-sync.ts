import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource } from '@bowline/runtime/resource';
import { ignitionSyncSpec } from './ignition-sync-spec.ts';
import { ignitionSyncStatus } from './ignition-sync-status.ts';
import { GROUP, MAX_NAME_LENGTH, VERSION } from './names.ts';

const condition = (type: string, field: string): string => `.status.conditions[?(@.type=="${type}")].${field}`;

/** IgnitionSync is the resource: a repository whose files are synced to the Ignition gateways of a namespace. */
export const IgnitionSync = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'IgnitionSync',
  scope: 'Namespaced',
  shortNames: ['isync', 'igs'],
  categories: ['bowline'],
  description: 'IgnitionSync syncs a Git repository to the Ignition gateways of its namespace.',
  spec: ignitionSyncSpec,
  status: ignitionSyncStatus,
  rules: [
    {
      rule: `self.metadata.name.size() <= ${MAX_NAME_LENGTH}`,
      message: `metadata.name must have at most ${MAX_NAME_LENGTH} characters, because names of other objects are derived from it; choose a shorter name`,
    },
  ],
  columns: [
    { name: 'Ref', path: '.status.lastSyncRef' },
    { name: 'Synced', path: condition('AllGatewaysSynced', 'status') },
    { name: 'Gateways', path: condition('AllGatewaysSynced', 'message') },
    { name: 'Ready', path: condition('Ready', 'status') },
    { name: 'Commit', path: '.status.lastSyncCommit', priority: 1 },
    { name: 'Wanted', path: '.spec.git.ref', priority: 1 },
    { name: 'Reason', path: condition('Ready', 'reason'), priority: 1 },
    { name: 'Age', path: '.metadata.creationTimestamp', type: 'date' },
  ],
});

/** IgnitionSync is the type of the object. */
export type IgnitionSync = ObjectOf<typeof IgnitionSync>;

/** IgnitionSyncSpec is the spec of an IgnitionSync, with defaults. */
export type IgnitionSyncSpec = IgnitionSync['spec'];

/** IgnitionSyncStatus is the status of an IgnitionSync. */
export type IgnitionSyncStatus = NonNullable<IgnitionSync['status']>;

/** DiscoveredGateway is the state of one gateway in the status of an IgnitionSync. */
export type DiscoveredGateway = NonNullable<IgnitionSyncStatus['discoveredGateways']>[number];
