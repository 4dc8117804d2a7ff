import { type Read, s } from '@bowline/runtime/resource';

const guid = s.string().pattern('^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$');
const https = s.string().pattern('^https?://[^/?#@]+/?$');

/** config is the section `azure` of the operator's configuration. */
export const config = s
  .object({
    vaults: s
      .map(https)
      .maxProperties(256)
      .default({})
      .rule("self.all(name, name.matches('^[a-z0-9][a-z0-9-]{0,62}$'))", {
        message: 'names consist of lower-case letters, digits and dashes',
      })
      .describe(
        'The vaults that pods may name, by name, each with its URL: https://prod.vault.azure.net. Tokens are sent only to these URLs.',
      ),
    defaultVault: s.string().optional().describe('The name of the vault for paths that name no vault.'),
    resource: https
      .default('https://vault.azure.net')
      .describe('The resource that tokens are requested for. It differs in sovereign clouds.'),
    caFile: s
      .string()
      .minLength(1)
      .optional()
      .describe('A file with the certificate authorities to trust, instead of those of the system.'),
    auth: s
      .object({
        method: s
          .enum(['workload-identity', 'client-secret', 'managed-identity'])
          .default('workload-identity')
          .describe('The authentication method. With client-secret, the secret is read from AZURE_CLIENT_SECRET.'),
        tenantId: guid.optional().describe('The tenant id. Defaults to AZURE_TENANT_ID.'),
        clientId: guid
          .optional()
          .describe(
            'The client id of the application or identity, unless a policy specifies another one as role. Defaults to AZURE_CLIENT_ID.',
          ),
        tokenFile: s
          .string()
          .minLength(1)
          .optional()
          .describe(
            'The file with the ServiceAccount token for workload-identity. Defaults to AZURE_FEDERATED_TOKEN_FILE.',
          ),
        authorityHost: https
          .optional()
          .describe(
            'The host that issues tokens. Defaults to AZURE_AUTHORITY_HOST, then https://login.microsoftonline.com.',
          ),
        metadataHost: https
          .default('http://169.254.169.254')
          .describe('The host that issues tokens for managed-identity: the metadata service of the machine.'),
      })
      .default({}),
  })
  .rule('!has(self.defaultVault) || self.defaultVault in self.vaults', {
    message: 'defaultVault must be one of vaults',
  })
  .default({});

/** AzureConfig is the parsed section. */
export type AzureConfig = Read<typeof config>;
