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
      .describe('Where Vault is, for instance https://vault.example.com:8200. Defaults to VAULT_ADDR.'),
    allowPlainHttp: s
      .boolean()
      .default(false)
      .describe(
        'Send tokens and receive secrets without TLS where the address begins with http:. Always on for loopback.',
      ),
    namespace: s
      .string()
      .pattern('^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*/?$')
      .optional()
      .describe('The Vault namespace that all paths and logins are in. Defaults to VAULT_NAMESPACE.'),
    caFile: file
      .optional()
      .describe("A file with the authorities to trust, in place of the system's. Defaults to VAULT_CACERT."),
    kv1Mounts: s
      .array(mount)
      .maxItems(256)
      .default([])
      .describe('The mounts of KV version 1. All others are version 2.'),
    kv2Mounts: s
      .array(mount)
      .maxItems(256)
      .default([])
      .describe(
        'The mounts of KV version 2 whose names have several segments, also by a child namespace: team-a/secret. Others need not be named.',
      ),
    auth: s
      .object({
        method: s.enum(['kubernetes', 'approle', 'token']).default('kubernetes').describe('How we say who we are.'),
        mount: mount.optional().describe('Where the method is mounted below auth/. Defaults to its own name.'),
        role: s
          .string()
          .minLength(1)
          .maxLength(256)
          .optional()
          .describe('The role to log in as with kubernetes, where neither policy nor annotation names one.'),
        tokenFile: file
          .optional()
          .describe(
            "The file of the token, read anew for every login: the ServiceAccount's for kubernetes (defaults to that of the pod), Vault's for token (defaults to VAULT_TOKEN).",
          ),
        roleId: s.string().minLength(1).maxLength(256).optional().describe('The role id for approle.'),
        secretIdFile: file.optional().describe('The file of the secret id for approle. Defaults to VAULT_SECRET_ID.'),
      })
      .default({}),
  })
  .default({});

/** VaultConfig is the parsed section. */
export type VaultConfig = Read<typeof config>;
