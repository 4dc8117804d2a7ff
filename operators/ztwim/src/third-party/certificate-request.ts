import { resource } from '@bowline/kubernetes';

/** CertificateRequest is the kind with which the SPIRE server asks cert-manager to sign its CA. */
export const CertificateRequest = resource()({
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'CertificateRequest',
  plural: 'certificaterequests',
  scope: 'Namespaced',
});
