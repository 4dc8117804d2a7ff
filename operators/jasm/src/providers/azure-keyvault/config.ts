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
        message: 'names consist of small letters, digits and dashes',
      })
      .describe(
        'The vaults that pods may name, each with its URL: https://prod.vault.azure.net. Tokens are sent to these alone.',
      ),
    defaultVault: s.string().optional().describe('The name of the vault of paths that name none.'),
    resource: https
      .default('https://vault.azure.net')
      .describe('What tokens are for. Other clouds than the public one have their own.'),
    caFile: s
      .string()
      .minLength(1)
      .optional()
      .describe("A file with the authorities to trust, in place of the system's."),
    auth: s
      .object({
        method: s
          .enum(['workload-identity', 'client-secret', 'managed-identity'])
          .default('workload-identity')
          .describe('How we say who we are. The secret of client-secret is AZURE_CLIENT_SECRET.'),
        tenantId: guid.optional().describe('The tenant. Defaults to AZURE_TENANT_ID.'),
        clientId: guid
          .optional()
          .describe('The application or identity, where no policy names another as role. Defaults to AZURE_CLIENT_ID.'),
        tokenFile: s
          .string()
          .minLength(1)
          .optional()
          .describe(
            'The file of the ServiceAccount token for workload-identity. Defaults to AZURE_FEDERATED_TOKEN_FILE.',
          ),
        authorityHost: https
          .optional()
          .describe('Who gives tokens. Defaults to AZURE_AUTHORITY_HOST, else https://login.microsoftonline.com.'),
        metadataHost: https
          .default('http://169.254.169.254')
          .describe("Who gives the tokens of managed-identity: the machine's metadata service."),
      })
      .default({}),
  })
  .rule('!has(self.defaultVault) || self.defaultVault in self.vaults', {
    message: 'defaultVault must be one of vaults',
  })
  .default({});

/** AzureConfig is the parsed section. */
export type AzureConfig = Read<typeof config>;
