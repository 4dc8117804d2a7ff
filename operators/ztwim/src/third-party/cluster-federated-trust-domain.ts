import { defineResource, s } from '@bowline/runtime/resource';
import { GROUP, VERSION } from './spire-group.ts';

/** ClusterFederatedTrustDomain is the kind of the SPIRE controller manager that adds a trust domain to federate with. */
export const ClusterFederatedTrustDomain = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'ClusterFederatedTrustDomain',
  scope: 'Cluster',
  description: 'ClusterFederatedTrustDomain adds a trust domain that the SPIRE server federates with.',
  spec: s.object({
    trustDomain: s.string().describe('The other trust domain.'),
    bundleEndpointURL: s.string().describe('Where its bundle is served.'),
    bundleEndpointProfile: s
      .object({
        type: s.enum(['https_spiffe', 'https_web']).describe('How the endpoint is authenticated.'),
        endpointSPIFFEID: s.string().describe('The SPIFFE ID of the endpoint.').optional(),
      })
      .describe('How its endpoint is authenticated.'),
    trustDomainBundle: s.string().describe('The first bundle, as JSON.').optional(),
    className: s.string().describe('The class of the controller manager.').optional(),
  }),
  status: s.object({}),
});
