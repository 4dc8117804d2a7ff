import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { GROUP, texts, VERSION } from './spire-group.ts';

const count = () => s.integer().optional();

/** ClusterSPIFFEID is the kind of the SPIRE controller manager that gives identities to selected pods. */
export const ClusterSPIFFEID = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'ClusterSPIFFEID',
  scope: 'Cluster',
  description: 'ClusterSPIFFEID gives SPIFFE IDs to selected pods.',
  spec: s.object({
    spiffeIDTemplate: s.string().describe('The template of the SPIFFE ID.'),
    ttl: s.string().describe('How long X.509-SVIDs are valid.').optional(),
    jwtTtl: s.string().describe('How long JWT-SVIDs are valid.').optional(),
    dnsNameTemplates: texts('Templates of DNS names.'),
    workloadSelectorTemplates: texts('Templates of further selectors.'),
    federatesWith: texts('Trust domains that the workloads trust too.'),
    namespaceSelector: s.labelSelector().describe('The namespaces of the pods.').optional(),
    podSelector: s.labelSelector().describe('The pods.').optional(),
    admin: s.boolean().describe('Whether the workloads may use the APIs of the server.').optional(),
    downstream: s.boolean().describe('Whether the workloads are SPIRE servers below this one.').optional(),
    autoPopulateDNSNames: s.boolean().describe('Whether the names of Services become DNS names.').optional(),
    className: s.string().describe('The class of the controller manager.').optional(),
    fallback: s.boolean().describe('Whether it applies only to pods without another identity.').optional(),
    hint: s.string().describe('How workloads tell several identities apart.').optional(),
  }),
  status: s.object({
    stats: s
      .object({
        namespacesSelected: count(),
        namespacesIgnored: count(),
        podsSelected: count(),
        podEntryRenderFailures: count(),
        entriesMasked: count(),
        entriesToSet: count(),
        entryFailures: count(),
      })
      .optional(),
  }),
});

/** ClusterSPIFFEID is the type of the object. */
export type ClusterSPIFFEID = ObjectOf<typeof ClusterSPIFFEID>;
