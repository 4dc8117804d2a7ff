import { readFile } from 'node:fs/promises';
import { statusKind } from '../http/http-problem.ts';
import type { HttpResponse, JsonHttp } from '../http/json-http.ts';
import type { Session } from '../http/sessions.ts';
import type { ProviderContext } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import type { AzureConfig } from './config.ts';

/** TokenOptions holds the parameters for getting a token. */
export interface TokenOptions extends Pick<ProviderContext<AzureConfig>, 'config' | 'env'> {
  readonly http: JsonHttp;
  /** The client id that a policy or an annotation names, or empty. */
  readonly role: string;
  readonly signal: AbortSignal;
}

/** GET_TOKEN is the operation name for getting a token. */
export const GET_TOKEN = 'GetToken';

const PUBLIC_AUTHORITY = 'https://login.microsoftonline.com';
const GUID = /^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/i;

/** azureToken gets a token for Key Vault from Entra ID, or from the metadata service of the machine. */
export async function azureToken(options: TokenOptions): Promise<Session> {
  const response =
    options.config.auth.method === 'managed-identity'
      ? await requestMetadataToken(options)
      : await requestEntraToken(options);
  const { access_token: token, expires_in: seconds } = (response.json ?? {}) as TokenResponse;
  if (response.status === 200 && typeof token === 'string' && token !== '') {
    // The metadata service returns the number as a string.
    return { token, lifetimeMs: Number(seconds) > 0 ? Number(seconds) * 1000 : 0 };
  }
  throw tokenProblem(response);
}

interface TokenResponse {
  readonly access_token?: unknown;
  readonly expires_in?: unknown;
  readonly error?: unknown;
  readonly error_description?: unknown;
}

async function requestEntraToken(options: TokenOptions): Promise<HttpResponse> {
  const { config, env, http, signal } = options;
  const { auth, resource } = config;
  const tenantId = required(
    auth.tenantId ?? env.AZURE_TENANT_ID,
    'tenant id',
    'azure.auth.tenantId or AZURE_TENANT_ID',
  );
  const authority = (auth.authorityHost ?? env.AZURE_AUTHORITY_HOST ?? PUBLIC_AUTHORITY).replace(/\/+$/, '');
  const form = {
    grant_type: 'client_credentials',
    client_id: required(clientId(options), 'client id', 'azure.auth.clientId or AZURE_CLIENT_ID'),
    scope: `${resource.replace(/\/+$/, '')}/.default`,
    ...(auth.method === 'client-secret' ? secretProof(env) : await federatedProof(options)),
  };
  if (!GUID.test(tenantId) || !isSecureAddress(authority)) {
    throw denied(
      'the tenant is not a valid id, or the authority host does not use https: correct azure.auth, AZURE_TENANT_ID or AZURE_AUTHORITY_HOST',
    );
  }
  const url = new URL(`${authority}/${tenantId}/oauth2/v2.0/token`);
  return http.call({ operation: GET_TOKEN, url, body: { form }, signal });
}

function secretProof(env: TokenOptions['env']): Readonly<Record<string, string>> {
  return { client_secret: required(env.AZURE_CLIENT_SECRET, 'client secret', 'AZURE_CLIENT_SECRET') };
}

async function federatedProof({ config, env }: TokenOptions): Promise<Readonly<Record<string, string>>> {
  const settings = 'azure.auth.tokenFile or AZURE_FEDERATED_TOKEN_FILE';
  const file = required(config.auth.tokenFile ?? env.AZURE_FEDERATED_TOKEN_FILE, 'ServiceAccount token file', settings);
  const assertion = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (assertion === '')
    throw denied(`the file ${file} does not contain a token: mount a projected token, or correct ${settings}`);
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  };
}

function requestMetadataToken(options: TokenOptions): Promise<HttpResponse> {
  const { config, http, signal } = options;
  const url = new URL(`${config.auth.metadataHost.replace(/\/+$/, '')}/metadata/identity/oauth2/token`);
  url.searchParams.set('api-version', '2018-02-01');
  url.searchParams.set('resource', config.resource);
  const client = clientId(options);
  if (client !== undefined) url.searchParams.set('client_id', client);
  return http.call({ operation: GET_TOKEN, url, headers: { metadata: 'true' }, direct: true, signal });
}

function clientId({ config, env, role }: TokenOptions): string | undefined {
  if (role !== '' && !GUID.test(role))
    throw denied('the role for Key Vault must be the client id of an identity: correct it');
  return role || config.auth.clientId || env.AZURE_CLIENT_ID || undefined;
}

function required(value: string | undefined, what: string, settings: string): string {
  if (!value) throw denied(`cannot get a token for Key Vault without a ${what}: set ${settings}`);
  return value;
}

/** isSecureAddress reports whether credentials may be sent to an address: with TLS, or to this machine. */
export function isSecureAddress(address: string): boolean {
  return (
    URL.canParse(address) && (address.startsWith('https://') || /^http:\/\/127\.0\.0\.1(?::\d+)?(?:\/|$)/.test(address))
  );
}

function tokenProblem(response: HttpResponse): ProviderError {
  const kind = statusKind(response.status);
  if (kind === 'transient') {
    return new ProviderError(
      `cannot get a token for Key Vault at the moment (status ${response.status}); it is retried`,
      {
        kind,
        provider: 'azure-keyvault',
        operation: GET_TOKEN,
        code: String(response.status),
        retryAfterMs: response.retryAfterMs,
      },
    );
  }
  const { error, error_description: description } = (response.json ?? {}) as TokenResponse;
  // The description contains ids and times; the documentation of Entra ID is sorted by its code.
  const code = /\bAADSTS\d+\b/.exec(String(description))?.[0];
  const errorCode = typeof error === 'string' && /^[\w.-]{1,64}$/.test(error) ? error : `status ${response.status}`;
  const detail = code === undefined ? errorCode : `${errorCode}, ${code}`;
  return denied(
    `cannot get a token for Key Vault: ${detail}; correct azure.auth, or the federated credential of the identity`,
    String(response.status),
  );
}

function denied(message: string, code = 'NoCredential'): ProviderError {
  return new ProviderError(message, { kind: 'denied', provider: 'azure-keyvault', operation: GET_TOKEN, code });
}
