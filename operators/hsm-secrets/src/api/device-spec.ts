import { s } from '@bowline/runtime/resource';
import { contentKey } from './content-key.ts';
import { mirroring } from './mirroring.ts';

const USB_ID = '^(0[xX])?[0-9a-fA-F]{4}$';
const ABSOLUTE = '^/.+$';

const usb = s.object({
  vendorId: s.string().maxLength(6).pattern(USB_ID).describe('The vendor of the device, four hexadecimal digits.'),
  productId: s.string().maxLength(6).pattern(USB_ID).describe('The product, four hexadecimal digits.'),
  serialNumber: s.string().maxLength(128).describe('The serial number of one device. Defaults to any.').optional(),
});

const devicePath = s.object({
  path: s
    .string()
    .maxLength(1024)
    .pattern('^/dev/.+$')
    .describe('The path of the device nodes, an absolute glob below /dev.'),
  permissions: s
    .string()
    .maxLength(4)
    .pattern('^0?[0-7]{3}$')
    .describe('The permission bits that a device node must have to count as available. Defaults to none.')
    .optional(),
});

const discovery = s
  .object({
    autoDiscovery: s
      .boolean()
      .default(false)
      .describe('Whether every USB device with a smart card interface (CCID) is a device.'),
    usb: s.array(usb).maxItems(16).listType('atomic').describe('USB devices; one match is enough.').optional(),
    devicePath: devicePath.describe('Device nodes by their path.').optional(),
  })
  .rule('self.autoDiscovery || (has(self.usb) && self.usb.size() > 0) || has(self.devicePath)', {
    message: 'nothing would be discovered; set autoDiscovery to true, or set usb or devicePath',
  });

const toleration = s.object({
  key: s.string().maxLength(316).optional(),
  operator: s.enum(['Equal', 'Exists']).optional(),
  value: s.string().maxLength(63).optional(),
  effect: s.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: s.integer().optional(),
});

const secretKeyFields = {
  name: s.dnsSubdomain().describe('The name of a Secret in the namespace of the HSMDevice.'),
  key: contentKey().describe('The key in the Secret.'),
};

const pinSecret = s.object({
  ...secretKeyFields,
  namespace: s.dnsLabel().describe('Only the namespace of the HSMDevice is accepted. Defaults to it.').optional(),
});

const pkcs11 = s
  .object({
    libraryPath: s
      .string()
      .maxLength(4096)
      .pattern(ABSOLUTE)
      .describe('The PKCS#11 module in the image of the agents. Without it there are no agents.')
      .optional(),
    slotId: s.integer().min(0).describe('The slot of the token, if it is not chosen otherwise.').optional(),
    tokenLabel: s.string().maxLength(32).describe('The label of the token.').optional(),
    pinSecret: pinSecret.describe('Where the PIN of the token is stored.').optional(),
    autoProvision: s.boolean().default(false).describe('Whether a blank token is initialized.'),
    soPinSecret: s.object(secretKeyFields).describe('Where the PIN of the security officer is stored.').optional(),
    pcscd: s
      .boolean()
      .describe('Whether the agent runs pcscd. Defaults to true for PicoHSM and SmartCard-HSM.')
      .optional(),
  })
  .rule('!has(self.libraryPath) || has(self.pinSecret)', {
    message: 'an agent needs a PIN; set pinSecret, or remove libraryPath',
    fieldPath: '.libraryPath',
  })
  .rule('!self.autoProvision || has(self.pinSecret)', {
    message: 'provisioning needs a PIN; set pinSecret, or remove autoProvision',
    fieldPath: '.autoProvision',
  });

const access = s.object({
  namespaces: s
    .array(s.string().minLength(1).maxLength(63))
    .minItems(1)
    .maxItems(64)
    .listType('atomic')
    .describe('Names or globs of the namespaces whose HSMSecrets may read from this device.'),
  paths: s
    .array(s.string().minLength(1).maxLength(256))
    .maxItems(64)
    .listType('atomic')
    .describe('Globs of the paths that they may read. Defaults to those below the name of their own namespace.')
    .optional(),
});

/** deviceSpec is the schema of the spec of an HSMDevice. */
export const deviceSpec = s.object({
  deviceType: s
    .string()
    .maxLength(41)
    .pattern('^[A-Za-z][A-Za-z0-9-]{0,40}$')
    .describe('PicoHSM, SmartCard-HSM or SoftHSM. Any other type is a generic device.'),
  discovery: discovery
    .describe('How devices are recognized. Defaults to every USB device with a smart card interface.')
    .optional(),
  nodeSelector: s.map(s.string().maxLength(63)).maxProperties(16).describe('The nodes to search.').optional(),
  tolerations: s
    .array(toleration)
    .maxItems(16)
    .listType('atomic')
    .default([])
    .describe('Further tolerations of the discovery pods and agents.'),
  pkcs11: pkcs11.describe('How the agents use the devices. Without it there are no agents.').optional(),
  maxDevices: s.integer().min(1).max(1024).default(10).describe('How many devices of the pool are used.'),
  gracePeriod: s
    .duration()
    .min('3s')
    .max('24h')
    .describe('How long a device stays available without a report. Defaults to that of the pool.')
    .optional(),
  scanInterval: s.duration().min('5s').max('1h').default('30s').describe('How often a node is searched again.'),
  mirroring: mirroring.describe('How secrets are copied between the devices of the pool.').optional(),
  access: s
    .array(access)
    .maxItems(32)
    .listType('atomic')
    .default([])
    .describe('Which other namespaces may read which secrets.'),
  image: s.string().maxLength(512).describe("The image of discovery and agents. Defaults to the manager's.").optional(),
  suspend: s.boolean().default(false).describe('Removes discovery and agents, and keeps the pool.'),
});
