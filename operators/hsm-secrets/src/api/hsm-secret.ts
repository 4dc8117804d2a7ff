import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { contentKey } from './content-key.ts';
import { GROUP, VERSION } from './names.ts';
import { SECRET_PATH } from './secret-path.ts';

/** The default path in another namespace is `namespace/name`. */
const MAX_PATH_LENGTH = 63 + 1 + 253;

const spec = s.object({
  parentRef: s
    .object({
      name: s.dnsSubdomain(),
      namespace: s.dnsLabel().optional(),
      group: s.string().maxLength(253).default('apps'),
      kind: s.string().maxLength(63).default('Deployment'),
    })
    .describe('The operator that delivers this secret. Defaults to the one that serves the namespace.')
    .optional(),
  deviceRef: s
    .object({ name: s.dnsLabel(), namespace: s.dnsLabel().optional() })
    .describe('The HSMDevice. Defaults to the only one in the namespace, or the default of the operator.')
    .optional(),
  path: s
    .string()
    .maxLength(200)
    .pattern(SECRET_PATH)
    .rule("!self.split('/').exists(part, part == '_metadata' || part.contains('..'))", {
      message: "a part of the path may not be '_metadata' and may not contain '..'",
    })
    .describe('Where the secret is stored on the device. Defaults to the name of this object.')
    .optional(),
  secretName: s.dnsSubdomain().describe('The name of the Secret. Defaults to the name of this object.').optional(),
  secretType: s.string().maxLength(253).default('Opaque').describe('The type of the Secret.'),
  keys: s
    .array(
      s.object({
        from: contentKey().describe('The key on the device.'),
        to: contentKey().describe('The key in the Secret.'),
      }),
    )
    .maxItems(64)
    .listType('atomic')
    .describe('The keys to deliver, with their new names. Defaults to all.')
    .optional(),
  autoSync: s.boolean().default(true).describe('Whether changes on the device are delivered.'),
  syncInterval: s.integer().min(5).max(86_400).default(30).describe('How often the device is asked, in seconds.'),
  deletionPolicy: s
    .enum(['Delete', 'Retain'])
    .default('Delete')
    .describe('What happens to the Secret when this object is deleted.'),
});

const deviceSync = s.object({
  deviceName: s.string().maxLength(128).describe('The serial number of the device.'),
  checksum: s.string().maxLength(128).optional(),
  version: s.integer().min(0).optional(),
  status: s.enum(['Pending', 'InSync', 'OutOfSync', 'Error']),
  lastError: s.string().maxLength(1024).optional(),
  online: s.boolean(),
});

const status = s.object({
  syncStatus: s.enum(['Pending', 'InSync', 'OutOfSync', 'Error']).optional(),
  lastSyncTime: s.dateTime().describe('When the content of the Secret last changed.').optional(),
  hsmChecksum: s.string().maxLength(128).optional(),
  secretChecksum: s.string().maxLength(128).optional(),
  lastError: s.string().maxLength(1024).optional(),
  secretRef: s.object({ name: s.string().maxLength(253), namespace: s.string().maxLength(63) }).optional(),
  deviceRef: s.object({ name: s.string().maxLength(63), namespace: s.string().maxLength(63) }).optional(),
  path: s.string().maxLength(MAX_PATH_LENGTH).optional(),
  deviceSyncStatus: s.array(deviceSync).maxItems(64).listType('atomic').optional(),
  primaryDevice: s.string().maxLength(128).optional(),
  syncConflict: s.boolean().optional(),
  lastHandledForceSync: s
    .string()
    .maxLength(1024)
    .describe('The value of the force-sync annotation that was last handled.')
    .optional(),
});

/** HSMSecret is the resource: a secret on a device, and the Secret that it is delivered to. */
export const HSMSecret = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'HSMSecret',
  scope: 'Namespaced',
  shortNames: ['hsmsec'],
  categories: ['bowline'],
  description: 'HSMSecret delivers a secret from an HSM device into a Secret.',
  spec,
  status,
  columns: [
    { name: 'Secret', path: '.status.secretRef.name' },
    { name: 'Status', path: '.status.syncStatus' },
    { name: 'Last Sync', path: '.status.lastSyncTime', type: 'date' },
    { name: 'Device', path: '.status.deviceRef.name', priority: 1 },
    { name: 'Path', path: '.status.path', priority: 1 },
    { name: 'Reason', path: '.status.conditions[?(@.type=="Synced")].reason', priority: 1 },
  ],
});

/** HSMSecret is the type of the object. */
export type HSMSecret = ObjectOf<typeof HSMSecret>;
