import { s } from '@bowline/runtime/resource';

/** mirroring is the schema of how secrets are copied between the devices of a pool. */
export const mirroring = s.object({
  policy: s
    .enum(['None', 'ReadOnly', 'Active'])
    .default('None')
    .describe('None copies nothing. ReadOnly copies from the primary device. Active keeps all devices equal.'),
  syncInterval: s.integer().min(5).max(86_400).default(60).describe('How often devices are compared, in seconds.'),
  targetNodes: s
    .array(s.dnsSubdomain())
    .maxItems(64)
    .listType('atomic')
    .describe('The nodes whose devices take part. Defaults to all.')
    .optional(),
  primaryNode: s.dnsSubdomain().describe('The node of the primary device. Defaults to the first one.').optional(),
  autoFailover: s.boolean().default(true).describe('Whether another device becomes primary when it is lost.'),
});
