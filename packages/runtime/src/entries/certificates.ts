// The entry of `@bowline/runtime/certificates`: a CA and certificates of an operator, for connections that are not
// webhooks.
export { authorityPermissions } from '../certificates/authority-permissions.ts';
export { CertificateAuthority, type CertificateAuthorityOptions } from '../certificates/certificate-authority.ts';
export type { TlsMaterial } from '../certificates/certificate-source.ts';
export type { IssuedLeaf, LeafRequest } from '../certificates/issue-leaf.ts';
export { MountedCertificate, type MountedCertificateOptions } from '../certificates/mounted-certificate.ts';
export type { TlsIdentity } from '../certificates/tls-identity.ts';
