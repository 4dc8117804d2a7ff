import { defineResource, s } from '@bowline/runtime/resource';
import { GROUP, texts, VERSION } from './spire-group.ts';

/** ClusterStaticEntry is the kind of the SPIRE controller manager that registers one workload. */
export const ClusterStaticEntry = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'ClusterStaticEntry',
  plural: 'clusterstaticentries',
  scope: 'Cluster',
  description: 'ClusterStaticEntry registers one workload with the SPIRE server.',
  spec: s.object({
    spiffeID: s.string().describe('The SPIFFE ID of the workload.'),
    parentID: s.string().describe('The SPIFFE ID of the agent or node.'),
    selectors: s.array(s.string()).listType('atomic').describe('What identifies the workload.'),
    federatesWith: texts('Trust domains that the workload trusts too.'),
    x509SVIDTTL: s.string().describe('How long X.509-SVIDs are valid.').optional(),
    jwtSVIDTTL: s.string().describe('How long JWT-SVIDs are valid.').optional(),
    dnsNames: texts('DNS names of the workload.'),
    hint: s.string().describe('How the workload tells several identities apart.').optional(),
    admin: s.boolean().describe('Whether the workload may use the APIs of the server.').optional(),
    downstream: s.boolean().describe('Whether the workload is a SPIRE server below this one.').optional(),
    storeSVID: s.boolean().describe('Whether the agent stores the identity with a plugin.').optional(),
    className: s.string().describe('The class of the controller manager.').optional(),
  }),
  status: s.object({
    rendered: s.boolean().optional(),
    masked: s.boolean().optional(),
    set: s.boolean().optional(),
  }),
});
