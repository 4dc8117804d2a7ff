import { statusKind } from '../http/http-problem.ts';
import { type HttpResponse, JsonHttp } from '../http/json-http.ts';
import { Sessions } from '../http/sessions.ts';
import type { ExternalSecret, ProviderContext, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import { rejectUnsupported } from '../unsupported-fields.ts';
import { azureSecret } from './azure-path.ts';
import { azureToken, GET_TOKEN, isSecureAddress } from './azure-token.ts';
import type { AzureConfig } from './config.ts';

const PROVIDER = 'azure-keyvault';
const OPERATION = 'GetSecret';
/** Supported by every cloud since 2023. */
const API_VERSION = '7.4';

/**
 * AzureProvider reads secrets of Azure Key Vault. Key Vault cannot return a version without its value, so there is no
 * probe.
 */
export class AzureProvider implements SecretProvider {
  readonly name = PROVIDER;
  readonly capabilities = { versions: false, batch: false } as const;
  readonly #config: AzureConfig;
  readonly #http: JsonHttp;
  readonly #sessions: Sessions;

  constructor(context: Pick<ProviderContext<AzureConfig>, 'config' | 'env' | 'clock' | 'observe' | 'signal'>) {
    const { config, env, clock, observe, signal } = context;
    this.#config = config;
    const http = new JsonHttp({ provider: PROVIDER, caFile: config.caFile, env, clock, observe, signal });
    this.#http = http;
    const startLogin = (role: string, limit: AbortSignal) => azureToken({ http, config, env, role, signal: limit });
    this.#sessions = new Sessions({ provider: PROVIDER, operation: GET_TOKEN, clock, startLogin });
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const url = this.#urlOf(ref);
    const session = { role: ref.role ?? '', refusal: 401, signal };
    const response = await this.#sessions.use(session, (token) =>
      this.#http.call({ operation: OPERATION, url, headers: { authorization: `Bearer ${token}` }, signal }),
    );
    if (response.status !== 200) throw problemOf(response, ref);
    const { value, id } = (response.json ?? {}) as { readonly value?: unknown; readonly id?: unknown };
    if (typeof value !== 'string' || typeof id !== 'string') {
      throw failure(
        'refused',
        'Answer',
        `unexpected response from ${url.origin}, which is not from Key Vault: check its URL`,
      );
    }
    const version = id.split('/').at(-1);
    return { provider: PROVIDER, sourcePath: ref.path, payload: { kind: 'text', text: value }, version };
  }

  #urlOf(ref: SecretRef): URL {
    const isShared = this.#config.auth.method === 'client-secret';
    rejectUnsupported(ref, { provider: PROVIDER, supported: isShared ? ['versionId'] : ['versionId', 'role'] });
    const { url, name, vault } = azureSecret(ref.path, this.#config);
    if (!isSecureAddress(url.href))
      throw failure('refused', 'Address', `the URL of the vault ${vault} does not use https: correct azure.vaults`);
    if (ref.versionId !== undefined && !/^[0-9a-f]{32}$/i.test(ref.versionId)) {
      throw failure(
        'refused',
        'Unsupported',
        'versionId must be the id of a version in Key Vault: 32 hexadecimal digits',
      );
    }
    const secret = new URL(`/secrets/${name}${ref.versionId === undefined ? '' : `/${ref.versionId}`}`, url);
    secret.searchParams.set('api-version', API_VERSION);
    return secret;
  }
}

function problemOf(response: HttpResponse, { path, versionId }: SecretRef): ProviderError {
  const { error } = (response.json ?? {}) as { readonly error?: KeyVaultError };
  const code = String(response.status);
  // Key Vault's own error code, which its documentation is sorted by.
  const errorCode = errorCodeOf(error?.innererror?.code) ?? errorCodeOf(error?.code) ?? code;
  const what = versionId === undefined ? path : `version ${versionId} of ${path}`;
  if (errorCode === 'SecretDisabled') return failure('refused', code, `${what} is disabled in Key Vault: enable it`);
  switch (statusKind(response.status)) {
    case 'denied':
      return failure(
        'denied',
        code,
        `Key Vault denies access to ${what} (${errorCode}): grant the operator's identity the role Key Vault Secrets User or the permission Get, and allow the operator in the vault's firewall`,
      );
    case 'not-found':
      return failure('not-found', code, `Key Vault has no secret ${what}: create or recover it, or correct the path`);
    case 'transient':
      return failure(
        'transient',
        code,
        `Key Vault is temporarily unavailable for ${what} (${errorCode}); it is retried`,
        response.retryAfterMs,
      );
    default:
      // The error text of the store is left out, because it may quote anything.
      return failure(
        'refused',
        code,
        `Key Vault rejected the request for ${what} (${errorCode}): correct the path or the version`,
      );
  }
}

interface KeyVaultError {
  readonly code?: unknown;
  readonly innererror?: { readonly code?: unknown };
}

function errorCodeOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\w{1,64}$/.test(value) ? value : undefined;
}

function failure(kind: ProviderErrorKind, code: string, message: string, retryAfterMs?: number): ProviderError {
  return new ProviderError(message, { kind, provider: PROVIDER, operation: OPERATION, code, retryAfterMs });
}
