import { s } from '@bowline/runtime/resource';
import { flag } from './flag.ts';

const httpsUrl = () => s.string().maxLength(2048).pattern('^https://.+$');
const profile = () => s.enum(['https_spiffe', 'https_web']);

const acme = s
  .object({
    directoryUrl: httpsUrl().describe('The directory of the ACME server.'),
    domainName: s.dnsSubdomain().describe('The domain of the certificate.'),
    email: s.string().minLength(1).maxLength(254).describe('The address that the ACME account is registered with.'),
    tosAccepted: flag().default('false').describe('Whether the terms of service of the ACME server are accepted.'),
  })
  .rule("self.tosAccepted == 'true'", {
    message: 'the terms of service of the ACME server must be accepted; set tosAccepted to "true"',
    fieldPath: '.tosAccepted',
  });

const servingCert = s.object({
  fileSyncInterval: s
    .integer('int32')
    .min(3600)
    .max(7_776_000)
    .default(86_400)
    .describe('How often the certificate is read again, in seconds.'),
  externalSecretRef: s.dnsSubdomain().describe('A Secret with the certificate for the Route.').optional(),
});

const httpsWeb = s
  .object({ acme: acme.optional(), servingCert: servingCert.optional() })
  .rule('has(self.acme) != has(self.servingCert)', { message: 'set exactly one of acme and servingCert' });

const bundleEndpoint = s
  .object({
    profile: profile().default('https_spiffe').describe('How clients authenticate the endpoint.'),
    refreshHint: s
      .integer('int32')
      .min(60)
      .max(3600)
      .default(300)
      .describe('How often others should read the bundle, in seconds.'),
    httpsWeb: httpsWeb.describe('The certificate of the profile https_web.').optional(),
  })
  .rule("!has(self.profile) || self.profile != 'https_web' || has(self.httpsWeb)", {
    message: 'the profile https_web needs a certificate; set httpsWeb',
    fieldPath: '.httpsWeb',
  });

const peer = s
  .object({
    trustDomain: s.string().maxLength(255).pattern('^[a-z0-9._-]{1,255}$').describe('The other trust domain.'),
    bundleEndpointUrl: httpsUrl().describe('Where its bundle is served.'),
    bundleEndpointProfile: profile().default('https_spiffe').describe('How its endpoint is authenticated.'),
    endpointSpiffeId: s
      .string()
      .maxLength(2048)
      .pattern('^spiffe://.*')
      .describe('The SPIFFE ID of its endpoint, for the profile https_spiffe.')
      .optional(),
  })
  .rule("self.bundleEndpointProfile != 'https_spiffe' || has(self.endpointSpiffeId)", {
    message: 'the profile https_spiffe needs the identity of the endpoint; set endpointSpiffeId',
    fieldPath: '.endpointSpiffeId',
  });

/** federation is the schema of how a server exchanges bundles with other trust domains. */
export const federation = s.object({
  bundleEndpoint: bundleEndpoint.default({}).describe('Where this server serves its bundle.'),
  federatesWith: s
    .array(peer)
    .minItems(1)
    .maxItems(50)
    .listMapBy('trustDomain')
    .describe('The trust domains whose bundles are read.')
    .optional(),
  managedRoute: flag().default('true').describe('Whether a Route exposes the endpoint where Routes are served.'),
});
