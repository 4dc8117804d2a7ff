import { type Read, s } from '@bowline/runtime/resource';

const file = s.string().minLength(1).maxLength(4096);
const mount = s.string().pattern('^[A-Za-z0-9_.@:+=,~-]+(/[A-Za-z0-9_.@:+=,~-]+)*$').maxLength(512);

/** config is the section `vault` of the operator's configuration. It applies to OpenBao as well. */
export const config = s
  .object({
    address: s
      .string()
      .pattern('^https?://[^/?#@]+(/[^?#]*)?$')
      .optional()
      .describe('The URL of Vault, for example https://vault.example.com:8200. Defaults to VAULT_ADDR.'),
    allowPlainHttp: s
      .boolean()
      .default(false)
      .describe(
        'Allow an address that starts with http:, so that tokens and secrets are sent without TLS. Always allowed for loopback addresses.',
      ),
    namespace: s
      .string()
      .pattern('^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*/?$')
      .optional()
      .describe('The Vault namespace of all paths and logins. Defaults to VAULT_NAMESPACE.'),
    caFile: file
      .optional()
      .describe(
        'A file with the certificate authorities to trust, instead of those of the system. Defaults to VAULT_CACERT.',
      ),
    kv1Mounts: s
      .array(mount)
      .maxItems(256)
      .default([])
      .describe('The mounts that use KV version 1. All others use version 2.'),
    kv2Mounts: s
      .array(mount)
      .maxItems(256)
      .default([])
      .describe(
        'The mounts that use KV version 2 and whose names have several segments, including those of a child namespace: team-a/secret. Others need not be listed.',
      ),
    auth: s
      .object({
        method: s.enum(['kubernetes', 'approle', 'token']).default('kubernetes').describe('The authentication method.'),
        mount: mount
          .optional()
          .describe('The mount of the authentication method below auth/. Defaults to the name of the method.'),
        role: s
          .string()
          .minLength(1)
          .maxLength(256)
          .optional()
          .describe('The role to log in with for kubernetes, unless the policy or the annotation specifies one.'),
        tokenFile: file
          .optional()
          .describe(
            'The file with the token, read again for every login: a ServiceAccount token for kubernetes (defaults to the token of the pod), a Vault token for token (defaults to VAULT_TOKEN).',
          ),
        roleId: s.string().minLength(1).maxLength(256).optional().describe('The role id for approle.'),
        secretIdFile: file.optional().describe('The file with the secret id for approle. Defaults to VAULT_SECRET_ID.'),
      })
      .default({}),
  })
  .default({});

/** VaultConfig is the parsed section. */
export type VaultConfig = Read<typeof config>;
