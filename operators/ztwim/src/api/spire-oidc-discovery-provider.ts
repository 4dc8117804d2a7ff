import type { ObjectOf } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { flag } from './flag.ts';
import { gatewayField } from './gateway.ts';
import { ingressField, logFields, operandPodFields } from './scheduling.ts';
import { inheritedJwtIssuer, trustDomainCopy } from './shared-fields.ts';
import { readyColumns, singletonOf } from './singleton.ts';
import { driverNameField } from './spiffe-csi-driver.ts';

const spec = s
  .object({
    trustDomain: trustDomainCopy(),
    jwtIssuer: inheritedJwtIssuer(),
    ...logFields,
    csiDriverName: driverNameField().describe('The CSI driver that mounts the Workload API socket.'),
    replicaCount: s.integer('int32').min(1).max(5).default(1).describe('How many pods run.'),
    managedRoute: flag().default('true').describe('Whether a Route exposes the provider where Routes are served.'),
    externalSecretRef: s.dnsSubdomain().describe('A Secret with the certificate for the Route.').optional(),
    additionalDomains: s
      .array(s.dnsSubdomain())
      .maxItems(20)
      .listType('set')
      .describe('Further host names that the provider answers to.')
      .optional(),
    tls: s
      .object({ secretName: s.dnsSubdomain().describe('A Secret with the certificate of the provider.') })
      .describe('The certificate of the provider. Defaults to one that the platform or the operator issues.')
      .optional(),
    ingress: ingressField(),
    gateway: gatewayField(),
    ...operandPodFields,
  })
  .default({});

/** SpireOIDCDiscoveryProvider is the resource of the OIDC discovery provider. */
export const SpireOIDCDiscoveryProvider = defineResource({
  ...singletonOf('SpireOIDCDiscoveryProvider'),
  shortNames: ['spireoidc'],
  description: 'SpireOIDCDiscoveryProvider configures the server of the keys with which JWT-SVIDs are verified.',
  spec,
  status: s.object({}),
  columns: readyColumns,
});

/** SpireOIDCDiscoveryProvider is the type of the object. */
export type SpireOIDCDiscoveryProvider = ObjectOf<typeof SpireOIDCDiscoveryProvider>;
