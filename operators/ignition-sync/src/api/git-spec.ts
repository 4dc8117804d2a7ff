import { s } from '@bowline/runtime/resource';
import { REF_NAME } from '../checks/ref-name.ts';
import { REPOSITORY_URL } from '../checks/repository-url.ts';
import { HTTPS_URL, USER_NAME } from '../checks/text-limits.ts';
import { checkedText } from './checked-text.ts';
import { secretKeyRef } from './secret-refs.ts';

const sshKeyAuth = s.object({
  secretRef: secretKeyRef().describe('The private key, in OpenSSH format, without a passphrase.'),
  knownHosts: s
    .object({ secretRef: secretKeyRef().describe('Lines as in a known_hosts file.') })
    .describe('The host keys of the Git server. Defaults to the key that it sends first.')
    .optional(),
});

const gitHubAppAuth = s.object({
  appId: s.integer().min(1).describe('The id of the GitHub App.'),
  installationId: s.integer().min(1).describe('The id of its installation.'),
  privateKeySecretRef: secretKeyRef().describe('The private key of the GitHub App, in PEM format.'),
  apiBaseURL: checkedText(HTTPS_URL).default('https://api.github.com').describe('The API of GitHub.'),
});

const tokenAuth = s.object({
  secretRef: secretKeyRef().describe('The token, which is sent as the password of HTTP basic authentication.'),
  username: checkedText(USER_NAME).default('x-access-token').describe('The user name that is sent with the token.'),
});

const gitAuthSpec = s
  .object({
    sshKey: sshKeyAuth.describe('A deploy key, for ssh URLs.').optional(),
    githubApp: gitHubAppAuth.describe('An installation of a GitHub App, for https URLs.').optional(),
    token: tokenAuth.describe('An access token, for https URLs.').optional(),
  })
  .rule('[has(self.sshKey), has(self.githubApp), has(self.token)].filter(present, present).size() <= 1', {
    message: 'at most one of sshKey, githubApp and token may be set; remove the others',
  });

const verifySpec = s.object({
  format: s.enum(['ssh', 'openpgp']).describe('The format of the signatures.'),
  secretRef: secretKeyRef().describe('An allowed signers file (ssh) or armoured public keys (openpgp).'),
});

const IS_SSH = "(self.repo.startsWith('ssh://') || !self.repo.contains('://'))";

/** gitSpec is the schema of the repository of an IgnitionSync. */
export const gitSpec = s
  .object({
    repo: checkedText(REPOSITORY_URL).describe(
      'The URL of the repository: https://…, ssh://…, user@host:path, or http://… if the operator allows it.',
    ),
    ref: checkedText(REF_NAME).describe(
      'A tag, a branch, refs/tags/…, refs/heads/… or a commit of 40 hexadecimal digits. A tag takes precedence over a branch of the same name.',
    ),
    auth: gitAuthSpec.describe('How to authenticate to the Git server. Defaults to not at all.').optional(),
    caSecretRef: secretKeyRef()
      .describe('The CA certificates of the Git server, in PEM format. Defaults to those of the image.')
      .optional(),
    submodules: s.boolean().default(false).describe('Whether submodules are fetched. Otherwise they are refused.'),
    lfs: s.boolean().default(false).describe('Whether Git LFS files are fetched. Otherwise they are refused.'),
    verify: verifySpec
      .describe('Syncs only commits, or tags, that are signed by one of these keys. Defaults to all.')
      .optional(),
  })
  .rule(`!has(self.auth) || !has(self.auth.sshKey) || ${IS_SSH}`, {
    message:
      'git.auth.sshKey needs an ssh URL; change git.repo to ssh://… or user@host:path, or use token or githubApp',
    fieldPath: '.auth.sshKey',
  })
  .rule(`!has(self.auth) || !has(self.auth.githubApp) || !${IS_SSH}`, {
    message: 'git.auth.githubApp needs an https URL; change git.repo to https://…, or use sshKey',
    fieldPath: '.auth.githubApp',
  })
  .rule(`!has(self.auth) || !has(self.auth.token) || !${IS_SSH}`, {
    message: 'git.auth.token needs an https URL; change git.repo to https://…, or use sshKey',
    fieldPath: '.auth.token',
  });
