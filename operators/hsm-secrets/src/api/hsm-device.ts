import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource } from '@bowline/runtime/resource';
import { deviceSpec } from './device-spec.ts';
import { GROUP, MAX_DEVICE_NAME_LENGTH, VERSION } from './names.ts';

/** HSMDevice is the resource: a type of device, how it is found on nodes, and how it is used. It has no status. */
export const HSMDevice = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'HSMDevice',
  scope: 'Namespaced',
  shortNames: ['hsmdev'],
  categories: ['bowline'],
  description: 'HSMDevice describes HSM devices, how they are found on nodes, and how they are used.',
  spec: deviceSpec,
  rules: [
    {
      // The name becomes a label, and the prefix of the names of all created objects.
      rule: `self.metadata.name.size() <= ${MAX_DEVICE_NAME_LENGTH} && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,
      message: `metadata.name must be a DNS label of at most ${MAX_DEVICE_NAME_LENGTH} characters; create the object under another name`,
    },
  ],
  columns: [
    { name: 'Type', path: '.spec.deviceType' },
    { name: 'Max Devices', path: '.spec.maxDevices' },
    { name: 'Discovery', path: '.spec.discovery.autoDiscovery', priority: 1 },
    { name: 'Library', path: '.spec.pkcs11.libraryPath', priority: 1 },
  ],
});

/** HSMDevice is the type of the object. */
export type HSMDevice = ObjectOf<typeof HSMDevice>;
