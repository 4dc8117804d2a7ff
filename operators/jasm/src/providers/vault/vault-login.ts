import { readFile } from 'node:fs/promises';
import type { Session } from '../http/sessions.ts';
import type { ProviderContext } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import type { VaultConfig } from './config.ts';
import type { VaultApi } from './vault-api.ts';
import { loginProblem, responseProblem } from './vault-problem.ts';

/** LoginOptions holds the parameters of a login. */
export interface LoginOptions extends Pick<ProviderContext<VaultConfig>, 'config' | 'env'> {
  readonly api: VaultApi;
  /** The role that a policy or an annotation names, or empty. */
  readonly role: string;
  readonly signal: AbortSignal;
}

/** LOGIN is the operation name of a login. */
export const LOGIN = 'Login';

/** The path at which Kubernetes mounts the token of a pod's ServiceAccount. */
const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** logIn gets a token from Vault, or the configured one. */
export async function logIn(options: LoginOptions): Promise<Session> {
  const { auth } = options.config;
  if (auth.method === 'token') return configuredToken(options);
  const proof = auth.method === 'kubernetes' ? await serviceAccountProof(options) : await appRoleProof(options);
  const path = `auth/${auth.mount ?? auth.method}/login`;
  const { api, signal } = options;
  const response = await api.call({ operation: LOGIN, path, body: { json: proof.body }, signal });
  const login = { operation: LOGIN, path, inNamespace: api.inNamespace, credentials: [proof.secret] };
  if (response.status !== 200) throw loginProblem(response, login);
  const given = (response.json as LoginResponse | undefined)?.auth;
  if (typeof given?.client_token !== 'string' || given.client_token === '') throw responseProblem(response, login);
  const seconds = given.lease_duration;
  // 0 is a token that does not expire.
  return {
    token: given.client_token,
    lifetimeMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
  };
}

interface LoginResponse {
  readonly auth?: { readonly client_token?: unknown; readonly lease_duration?: unknown } | null;
}

async function configuredToken({ config, env }: LoginOptions): Promise<Session> {
  const { tokenFile } = config.auth;
  // The owner of the file renews its token, so it is read for each call.
  if (tokenFile !== undefined) return { token: await readCredential(tokenFile, 'vault.auth.tokenFile'), lifetimeMs: 0 };
  const token = env.VAULT_TOKEN;
  if (!token) throw noCredential('no Vault token is configured: set vault.auth.tokenFile, or VAULT_TOKEN');
  return { token, lifetimeMs: undefined };
}

/** Proof holds the body of a login, and its secret part. */
interface Proof {
  readonly body: object;
  readonly secret: string;
}

async function serviceAccountProof({ config, role }: LoginOptions): Promise<Proof> {
  const { tokenFile = SERVICE_ACCOUNT_TOKEN, role: configuredRole } = config.auth;
  const loginRole = role || configuredRole;
  if (!loginRole)
    throw noCredential('no Vault role to log in with is configured: set vault.auth.role, or a role in the policy');
  const jwt = await readCredential(tokenFile, 'vault.auth.tokenFile');
  return { body: { role: loginRole, jwt }, secret: jwt };
}

async function appRoleProof({ config, env }: LoginOptions): Promise<Proof> {
  const { roleId, secretIdFile } = config.auth;
  if (!roleId) throw noCredential('no role id to log in to Vault with is configured: set vault.auth.roleId');
  const secretId =
    secretIdFile === undefined ? env.VAULT_SECRET_ID : await readCredential(secretIdFile, 'vault.auth.secretIdFile');
  if (!secretId)
    throw noCredential(
      'no secret id to log in to Vault with is configured: set vault.auth.secretIdFile, or VAULT_SECRET_ID',
    );
  return { body: { role_id: roleId, secret_id: secretId }, secret: secretId };
}

async function readCredential(file: string, setting: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.trim() === '')
    throw noCredential(`the file ${file} does not contain a credential: mount the file, or correct ${setting}`);
  return text.trim();
}

function noCredential(message: string): ProviderError {
  return new ProviderError(message, { kind: 'denied', provider: 'vault', operation: LOGIN, code: 'NoCredential' });
}
