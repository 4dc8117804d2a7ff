import { randomUUID } from 'node:crypto';
import { FakeHttp, type FakeRequest, type FakeResponse } from './fake-http.test-support.ts';

interface Version {
  readonly id: string;
  readonly value: string;
  enabled: boolean;
}

/** The lifetime of the tokens. */
export const FAKE_TOKEN_MS = 3_600_000;

const UNAUTHORIZED: FakeResponse = { status: 401, body: { error: { code: 'Unauthorized', message: 'AKV10000' } } };

/**
 * FakeAzure is a Key Vault, the authority that issues tokens for it and the metadata service of a machine. It validates
 * requests as they do, and responds in their format.
 */
export class FakeAzure implements AsyncDisposable {
  readonly http: FakeHttp;
  readonly tenantId = randomUUID();
  readonly clientId = randomUUID();
  readonly clientSecret = 'fake-client-secret';
  /** The ServiceAccount token that the federated credential of an identity accepts, by client id. */
  readonly assertions = new Map<string, string>();
  readonly #tokens = new Map<string, string>();
  readonly #secrets = new Map<string, Version[]>();
  readonly #denied = new Set<string>();
  #made = 0;

  private constructor(http: FakeHttp) {
    this.http = http;
  }

  static async start(): Promise<FakeAzure> {
    const fake: FakeAzure = new FakeAzure(await FakeHttp.start((request) => fake.#answer(request)));
    return fake;
  }

  /** put writes a version of a secret and returns its id. */
  put(name: string, value: string): string {
    const id = (++this.#made).toString(16).padStart(32, '0');
    this.#secrets.set(name, [...(this.#secrets.get(name) ?? []), { id, value, enabled: true }]);
    return id;
  }

  /** remove deletes a secret permanently. */
  remove(name: string): void {
    this.#secrets.delete(name);
  }

  /** disable disables the latest version. */
  disable(name: string): void {
    const latest = this.#secrets.get(name)?.at(-1);
    if (!latest) throw new Error(`the fake has no ${name}`);
    latest.enabled = false;
  }

  /** deny revokes the permission to read a secret. */
  deny(name: string): void {
    this.#denied.add(name);
  }

  /** revoke invalidates all tokens. */
  revoke(): void {
    this.#tokens.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.http[Symbol.asyncDispose]();
  }

  #answer(request: FakeRequest): FakeResponse {
    const { pathname } = request.url;
    if (pathname === `/${this.tenantId}/oauth2/v2.0/token`) return this.#exchange(request);
    if (pathname === '/metadata/identity/oauth2/token') return this.#metadata(request);
    return this.#read(request);
  }

  #exchange({ method, body, headers }: FakeRequest): FakeResponse {
    const form = new URLSearchParams(body);
    const client = form.get('client_id') ?? '';
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
    const isRightKind = form.get('grant_type') === 'client_credentials' && form.get('scope')?.endsWith('/.default');
    if (method !== 'POST' || !isForm || !isRightKind) return refusal('invalid_request', 'AADSTS900144');
    const isFederated =
      form.get('client_assertion_type') === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' &&
      form.get('client_assertion') === (this.assertions.get(client) ?? 'none');
    const hasSecret = client === this.clientId && form.get('client_secret') === this.clientSecret;
    return isFederated || hasSecret
      ? this.#begin(client, FAKE_TOKEN_MS / 1000)
      : refusal('invalid_client', 'AADSTS700213');
  }

  #metadata({ url, headers }: FakeRequest): FakeResponse {
    if (headers.metadata !== 'true' || !url.searchParams.has('resource')) {
      return {
        status: 400,
        body: { error: 'invalid_request', error_description: 'Required metadata header not specified' },
      };
    }
    return this.#begin(url.searchParams.get('client_id') ?? 'system', String(FAKE_TOKEN_MS / 1000));
  }

  #begin(client: string, seconds: number | string): FakeResponse {
    const token = `fake-token-${String(++this.#made)}`;
    this.#tokens.set(token, client);
    return { status: 200, body: { token_type: 'Bearer', access_token: token, expires_in: seconds } };
  }

  #read({ url, headers }: FakeRequest): FakeResponse {
    const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (!this.#tokens.has(token)) return UNAUTHORIZED;
    if (url.searchParams.get('api-version') !== '7.4') return failure(400, 'BadParameter', 'api-version');
    const [, collection, name = '', wanted] = url.pathname.split('/');
    if (collection !== 'secrets') return failure(404, 'NotFound', 'no such resource');
    if (this.#denied.has(name)) {
      return failure(403, 'Forbidden', `Caller is not authorized. oid=${randomUUID()}`, 'ForbiddenByRbac');
    }
    const versions = this.#secrets.get(name) ?? [];
    const version = wanted === undefined ? versions.at(-1) : versions.find(({ id }) => id === wanted);
    if (!version)
      return failure(404, 'SecretNotFound', `A secret with (name/id) ${name} was not found in this key vault.`);
    if (!version.enabled)
      return failure(403, 'Forbidden', 'Operation get is not allowed on a disabled secret.', 'SecretDisabled');
    const id = `https://fake.vault.azure.net/secrets/${name}/${version.id}`;
    return { status: 200, body: { value: version.value, id, attributes: { enabled: true } } };
  }
}

/** The error text of the authority contains the code in a sentence with ids and times. */
function refusal(error: string, code: string): FakeResponse {
  const description = `${code}: No matching federated identity record. Trace ID: ${randomUUID()} Timestamp: 2026-01-01 00:00:00Z`;
  return { status: 401, body: { error, error_description: description, trace_id: randomUUID() } };
}

function failure(status: number, code: string, message: string, inner?: string): FakeResponse {
  return {
    status,
    body: { error: { code, message, ...(inner === undefined ? {} : { innererror: { code: inner } }) } },
  };
}
