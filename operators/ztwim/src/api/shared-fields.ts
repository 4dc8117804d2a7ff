import { s } from '@bowline/runtime/resource';

const DOMAIN_LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';

/** trustDomainField returns the schema of a trust domain. */
export function trustDomainField() {
  return s.string().minLength(1).maxLength(255).pattern(`^${DOMAIN_LABEL}(\\.${DOMAIN_LABEL})*$`);
}

/** clusterNameField returns the schema of the name of a cluster in SPIFFE IDs of agents. */
export function clusterNameField() {
  return s.string().minLength(1).maxLength(63).pattern('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$');
}

/** jwtIssuerField returns the schema of the issuer of JWT-SVIDs. */
export function jwtIssuerField() {
  return s.string().maxLength(512).pattern('^(?i)https?://[^\\s?#]+$');
}

const deprecation = (field: string): string => `use ZeroTrustWorkloadIdentityManager.spec.${field}`;

/** trustDomainCopy returns the schema of an operand's own copy of the trust domain. */
export function trustDomainCopy() {
  return trustDomainField()
    .describe('The trust domain. It must be that of the ZeroTrustWorkloadIdentityManager.')
    .deprecated(deprecation('trustDomain'))
    .optional();
}

/** identityCopies are the schemas of the shared values of which an operand that identifies nodes has copies. */
export const identityCopies = {
  trustDomain: trustDomainCopy(),
  clusterName: clusterNameField()
    .describe('The name of the cluster. It must be that of the ZeroTrustWorkloadIdentityManager.')
    .deprecated(deprecation('clusterName'))
    .optional(),
  bundleConfigMap: s
    .dnsSubdomain()
    .describe('The ConfigMap with the trust bundle. It must be that of the ZeroTrustWorkloadIdentityManager.')
    .deprecated(deprecation('bundleConfig'))
    .optional(),
};

/** inheritedJwtIssuer returns the schema of an operand's own copy of the issuer. */
export function inheritedJwtIssuer() {
  return jwtIssuerField()
    .describe('The issuer of JWT-SVIDs. Defaults to that of the ZeroTrustWorkloadIdentityManager.')
    .optional();
}
