import { s } from '@bowline/runtime/resource';

const mountPoint = () => s.string().maxLength(253).pattern('^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$');

const vault = s.object({
  address: s.string().maxLength(2048).pattern('^https?://[^\\s@]+$').describe('The URL of Vault.'),
  namespace: s.string().minLength(1).maxLength(253).describe('The namespace of Vault. Defaults to none.').optional(),
  pkiMountPoint: mountPoint().default('pki').describe('Where the PKI secrets engine is mounted.'),
  caSecretRef: s
    .object({
      name: s.dnsSubdomain(),
      key: s.string().maxLength(253).pattern('^[-._a-zA-Z0-9]+$').default('ca.crt'),
    })
    .describe('A Secret with the CA of the certificate of Vault. Defaults to the CAs of the image.')
    .optional(),
  kubernetesAuth: s
    .object({
      role: s.string().minLength(1).maxLength(253).describe('The role of Vault that signs the CA.'),
      mountPoint: mountPoint().default('kubernetes').describe('Where the Kubernetes auth method is mounted.'),
      audience: s.string().minLength(1).maxLength(253).default('vault').describe('The audience of the token.'),
    })
    .describe('How the server authenticates: with a token of its ServiceAccount.'),
});

const certManager = s.object({
  issuerName: s.dnsSubdomain().describe('The issuer that signs the CA.'),
  issuerKind: s.string().minLength(1).maxLength(63).default('Issuer').describe('The kind of the issuer.'),
  issuerGroup: s.dnsSubdomain().default('cert-manager.io').describe('The API group of the issuer.'),
});

/** upstreamAuthority is the schema of what signs the CA of a server. */
export const upstreamAuthority = s
  .object({
    vault: vault.describe('The PKI secrets engine of Vault.').optional(),
    certManager: certManager
      .describe(
        'An issuer of cert-manager. The server creates CertificateRequests in the namespace of the operands, which the setting certificateRequests of the operator has to allow.',
      )
      .optional(),
  })
  .rule('has(self.vault) != has(self.certManager)', { message: 'set exactly one of vault and certManager' });
