import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { operandPodFields } from './scheduling.ts';
import { readyColumns, singletonOf } from './singleton.ts';
import { socketPathField } from './spire-agent.ts';

/** driverNameField returns the schema of the name of the CSI driver. */
export function driverNameField() {
  return s.string().maxLength(127).pattern('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$').default('csi.spiffe.io');
}

const spec = s
  .object({
    agentSocketPath: socketPathField().describe('The folder of the Workload API socket on nodes.'),
    pluginName: driverNameField().describe('The name of the CSI driver.'),
    kubeletPath: s
      .string()
      .maxLength(256)
      .pattern('^/[a-zA-Z0-9._/\\-]*$')
      .default('/var/lib/kubelet')
      .describe('The folder of kubelet on nodes.'),
    selinux: s
      .boolean()
      .describe('Whether the socket gets an SELinux context. Defaults to false, on OpenShift to true.')
      .optional(),
    ...operandPodFields,
  })
  .default({});

/** SpiffeCSIDriver is the resource of the SPIFFE CSI driver. */
export const SpiffeCSIDriver = defineResource({
  ...singletonOf('SpiffeCSIDriver'),
  shortNames: ['spiffecsi'],
  description: 'SpiffeCSIDriver configures the CSI driver that mounts the Workload API socket into pods.',
  spec,
  status: s.object({}),
  columns: readyColumns,
});

/** SpiffeCSIDriver is the type of the object. */
export type SpiffeCSIDriver = ObjectOf<typeof SpiffeCSIDriver>;
