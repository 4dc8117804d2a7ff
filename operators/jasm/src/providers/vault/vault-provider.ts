import { DeniedCalls } from '../denied-calls.ts';
import { type HttpResponse, JsonHttp } from '../http/json-http.ts';
import { Sessions } from '../http/sessions.ts';
import type { ExternalSecret, ProviderContext, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { rejectUnsupported } from '../unsupported-fields.ts';
import type { VaultConfig } from './config.ts';
import { rawMember } from './raw-member.ts';
import { VaultApi, type VaultCall } from './vault-api.ts';
import { LOGIN, logIn } from './vault-login.ts';
import { apiPath, type VaultSecret, vaultSecret } from './vault-path.ts';
import { type FailedRead, readProblem, responseProblem } from './vault-problem.ts';

const PROVIDER = 'vault';

/** How long a denied permission to read the metadata of a secret is remembered: policies change. */
const DENIAL_REMEMBERED_MS = 600_000;

/** VersionMetadata is Vault's metadata of one version of a secret of KV version 2. */
interface VersionMetadata {
  readonly created_time?: unknown;
  readonly deletion_time?: unknown;
  readonly destroyed?: unknown;
  readonly version?: unknown;
}

/** VaultProvider reads the KV engines of Vault and OpenBao. */
export class VaultProvider implements SecretProvider {
  readonly name = PROVIDER;
  readonly capabilities = { versions: true, batch: false } as const;
  readonly #config: VaultConfig;
  readonly #api: VaultApi;
  readonly #sessions: Sessions;
  /** The denied metadata requests, by role and path: policies of Vault allow folders, and deny single secrets. */
  readonly #denied: DeniedCalls;

  constructor(context: Pick<ProviderContext<VaultConfig>, 'config' | 'env' | 'clock' | 'observe' | 'signal'>) {
    const { config, env, clock, observe, signal } = context;
    this.#config = config;
    this.#denied = new DeniedCalls(clock, DENIAL_REMEMBERED_MS);
    const caFile = config.caFile ?? env.VAULT_CACERT;
    const http = new JsonHttp({ provider: PROVIDER, caFile, env, clock, observe, signal });
    const api = new VaultApi({ http, config, env });
    this.#api = api;
    const startLogin = (role: string, limit: AbortSignal) => logIn({ api, config, env, role, signal: limit });
    this.#sessions = new Sessions({ provider: PROVIDER, operation: LOGIN, clock, startLogin });
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const secret = this.#secretOf(ref);
    const read = { operation: 'ReadSecret', path: apiPath(secret), version: ref.versionId };
    const { response, problem } = await this.#get(read, ref, signal);
    const body = response.json as { readonly data?: { readonly metadata?: VersionMetadata } | null } | undefined;
    const metadata = secret.version === 2 ? body?.data?.metadata : undefined;
    // Vault returns 404 with the metadata of a version that has been deleted.
    if (response.status === 404 && metadata) throw deletedVersion(metadata, ref, read.operation);
    if (response.status !== 200) throw readProblem(response, problem);
    const text = contentOf(response, secret);
    if (text === undefined) throw responseProblem(response, problem);
    return {
      provider: PROVIDER,
      sourcePath: ref.path,
      payload: { kind: 'text', text },
      version: metadata && versionOf(metadata, metadata.version),
    };
  }

  /**
   * probeVersion reads the metadata of KV version 2, which a policy allows separately from the secrets. Version 1 has
   * none.
   */
  async probeVersion(ref: SecretRef, signal: AbortSignal): Promise<string | undefined> {
    const secret = this.#secretOf(ref);
    const read = { operation: 'ReadMetadata', path: `${secret.mount}/metadata/${secret.name}` };
    const source = JSON.stringify([ref.role, read.path]);
    if (secret.version === 1 || this.#denied.has(source)) return undefined;
    const { response, problem } = await this.#get(read, ref, signal);
    if (response.status === 403) {
      this.#denied.add(source);
      return undefined;
    }
    if (response.status !== 200) throw readProblem(response, problem);
    const { data } = (response.json ?? {}) as { readonly data?: MetadataResponse | null };
    const number = ref.versionId ?? String(data?.current_version);
    const metadata = data?.versions?.[number];
    // Only reading shows why a version cannot be read, and whether its deletion time has passed on Vault's clock.
    if (!metadata || metadata.destroyed === true || metadata.deletion_time !== '') return undefined;
    return versionOf(metadata, number);
  }

  #secretOf(ref: SecretRef): VaultSecret {
    const { method } = this.#config.auth;
    rejectUnsupported(ref, {
      provider: PROVIDER,
      supported: method === 'kubernetes' ? ['versionId', 'role'] : ['versionId'],
    });
    const secret = vaultSecret(ref.path, this.#config);
    if (ref.versionId !== undefined && (secret.version === 1 || !/^[1-9]\d{0,14}$/.test(ref.versionId))) {
      throw new ProviderError('versionId must be the number of a version in KV version 2, for example "3"', {
        kind: 'refused',
        provider: PROVIDER,
        operation: 'ReadSecret',
        code: 'Unsupported',
      });
    }
    return secret;
  }

  async #get(
    { operation, path, version }: Pick<VaultCall, 'operation' | 'path' | 'version'>,
    { role = '' }: SecretRef,
    signal: AbortSignal,
  ): Promise<{ readonly response: HttpResponse; readonly problem: FailedRead }> {
    const response = await this.#sessions.use({ role, refusal: 403, signal }, (token) =>
      this.#api.call({ operation, path, version, token, signal }),
    );
    return { response, problem: { operation, path, inNamespace: this.#api.inNamespace } };
  }
}

interface MetadataResponse {
  readonly current_version?: unknown;
  readonly versions?: Readonly<Record<string, VersionMetadata>>;
}

/** Returns the JSON text of a secret's values, as Vault wrote it. */
function contentOf(response: HttpResponse, secret: VaultSecret): string | undefined {
  if (response.json === undefined) return undefined;
  const data = rawMember(response.text, 'data');
  const content = secret.version === 2 && data?.startsWith('{') ? rawMember(data, 'data') : data;
  return content?.startsWith('{') ? content : undefined;
}

/** A number alone is ambiguous: a secret that was removed and recreated starts at 1 again. */
function versionOf({ created_time }: VersionMetadata, number: unknown): string {
  return `${String(number)}@${String(created_time)}`;
}

function deletedVersion(
  { version, destroyed }: VersionMetadata,
  { path }: SecretRef,
  operation: string,
): ProviderError {
  const problem =
    destroyed === true ? 'is destroyed: write a new version' : 'is deleted: undelete it, or write a new version';
  return new ProviderError(`version ${String(version)} of ${path} in Vault ${problem}`, {
    kind: 'not-found',
    provider: PROVIDER,
    operation,
    code: '404',
  });
}
