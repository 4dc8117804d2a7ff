import { type Glob, glob } from '@bowline/machinery';
import { FakeHttp, type FakeRequest, type FakeResponse } from './fake-http.test-support.ts';

interface Version {
  /** JSON, as it was written. */
  readonly text: string;
  readonly createdAt: string;
  deletedAt: string;
  destroyed: boolean;
}

/** The lifetime of the tokens of a login. */
export const FAKE_LEASE_MS = 3_600_000;

const NOTHING: FakeResponse = { status: 404, body: { errors: [] } };
const DENIED: FakeResponse = { status: 403, body: { errors: ['1 error occurred:\n\t* permission denied\n\n'] } };

/**
 * FakeVault implements the part of Vault's protocol that we use: KV of both versions, tokens, and logins by AppRole and
 * by Kubernetes. The provider's tests make the same requests to a real Vault, if it supports them.
 */
export class FakeVault implements AsyncDisposable {
  readonly http: FakeHttp;
  /** Mounts and their KV versions. */
  readonly mounts = new Map<string, 1 | 2>([
    ['secret', 2],
    ['kv', 1],
  ]);
  readonly rootToken = 'fake-root-token';
  readonly appRole = { roleId: 'fake-role-id', secretId: 'fake-secret-id' };
  /** The roles of the Kubernetes method, and the ServiceAccount token that each accepts. */
  readonly kubernetesRoles = new Map<string, string>();
  /** The namespace that requests must be in. */
  namespace: string | undefined;
  /** Tokens and their roles. */
  readonly #tokens = new Map([[this.rootToken, 'root']]);
  readonly #secrets = new Map<string, Version[]>();
  readonly #denials: { readonly path: Glob; readonly except: string | undefined }[] = [];
  #made = 0;

  private constructor(http: FakeHttp) {
    this.http = http;
  }

  static async start(): Promise<FakeVault> {
    const fake: FakeVault = new FakeVault(await FakeHttp.start((request) => fake.#answer(request)));
    return fake;
  }

  /** put writes a version of a secret, from JSON text or from an object. */
  put(mount: string, name: string, value: string | object): void {
    const versions = this.#secrets.get(`${mount}/${name}`) ?? [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    versions.push({ text, createdAt: this.#time(), deletedAt: '', destroyed: false });
    this.#secrets.set(`${mount}/${name}`, versions);
  }

  /** remove deletes a secret and all its versions; the next one is version 1 again. */
  remove(mount: string, name: string): void {
    this.#secrets.delete(`${mount}/${name}`);
  }

  /** change deletes or destroys the latest version. */
  change(mount: string, name: string, state: 'deleted' | 'destroyed'): void {
    const latest = this.#secrets.get(`${mount}/${name}`)?.at(-1);
    if (!latest) throw new Error(`the fake has no ${mount}/${name}`);
    if (state === 'deleted') latest.deletedAt = this.#time();
    else latest.destroyed = true;
  }

  /** deny denies reading the paths below /v1 that a glob matches, to all roles or to all but one. */
  deny(path: string, except?: string): void {
    this.#denials.push({ path: glob(path), except });
  }

  /** revoke ends all sessions. */
  revoke(): void {
    for (const [token, role] of this.#tokens) if (role !== 'root') this.#tokens.delete(token);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.http[Symbol.asyncDispose]();
  }

  /** A secret that is written later has a later time, as with the nanoseconds of Vault. */
  #time(): string {
    return `2026-01-01T00:00:00.${String(++this.#made).padStart(9, '0')}Z`;
  }

  #answer({ method, url, headers, body }: FakeRequest): FakeResponse {
    if (headers['x-vault-request'] !== 'true') return { status: 412, body: { errors: ['missing X-Vault-Request'] } };
    const path = decodeURIComponent(url.pathname.replace(/^\/v1\//, ''));
    if (headers['x-vault-namespace'] !== this.namespace) return { status: 404, body: { errors: ['no namespace'] } };
    if (method === 'POST') return this.#login(path, JSON.parse(body) as Readonly<Record<string, string>>);
    const role = this.#tokens.get(String(headers['x-vault-token']));
    const isDenied = this.#denials.some((denial) => denial.path.matches(path) && denial.except !== role);
    if (role === undefined || isDenied) return DENIED;
    return this.#read(path, url.searchParams.get('version'));
  }

  #login(path: string, proof: Readonly<Record<string, string>>): FakeResponse {
    const { role = '', jwt, role_id: roleId, secret_id: secretId } = proof;
    if (path === 'auth/approle/login') {
      const isRight = roleId === this.appRole.roleId && secretId === this.appRole.secretId;
      // Vault's own text, with more in it than our messages may show.
      if (!isRight) return { status: 400, body: { errors: [`invalid role or secret ID ${String(secretId)}`] } };
      return this.#begin('approle');
    }
    if (path !== 'auth/kubernetes/login') return { status: 403, body: { errors: ['permission denied'] } };
    const taken = this.kubernetesRoles.get(role);
    if (taken === undefined) return { status: 400, body: { errors: [`invalid role name "${role}"`] } };
    return taken === jwt
      ? this.#begin(role)
      : { status: 403, body: { errors: ['service account name not authorized'] } };
  }

  #begin(role: string): FakeResponse {
    const token = `hvs.fake${String(++this.#made)}`;
    this.#tokens.set(token, role);
    const auth = { client_token: token, lease_duration: FAKE_LEASE_MS / 1000, renewable: true };
    return { status: 200, body: { auth } };
  }

  #read(path: string, version: string | null): FakeResponse {
    const found = [...this.mounts].find(([mount]) => path.startsWith(`${mount}/`));
    if (!found) return { status: 404, body: { errors: [`no handler for route "${path}". route entry not found.`] } };
    const [mount, kv] = found;
    const rest = path.slice(mount.length + 1);
    if (kv === 1) {
      const latest = this.#secrets.get(path)?.at(-1);
      return latest ? { status: 200, body: `{"lease_duration":2764800,"data":${latest.text}}` } : NOTHING;
    }
    const name = rest.replace(/^(?:meta)?data\//, '');
    const versions = this.#secrets.get(`${mount}/${name}`);
    if (name === rest || !versions) return NOTHING;
    return rest.startsWith('metadata/') ? metadataAnswer(versions) : dataAnswer(versions, version);
  }
}

function metadataAnswer(versions: readonly Version[]): FakeResponse {
  const described = versions.map((version, index) => [String(index + 1), describe(version)] as const);
  return {
    status: 200,
    body: { data: { current_version: versions.length, versions: Object.fromEntries(described) } },
  };
}

function dataAnswer(versions: readonly Version[], wanted: string | null): FakeResponse {
  const number = wanted === null ? versions.length : Number(wanted);
  const version = versions[number - 1];
  if (!version) return NOTHING;
  const metadata = JSON.stringify({ ...describe(version), version: number });
  const isThere = version.deletedAt === '' && !version.destroyed;
  const text = isThere ? version.text : 'null';
  return { status: isThere ? 200 : 404, body: `{"request_id":"r","data":{"data":${text},"metadata":${metadata}}}` };
}

function describe({ createdAt, deletedAt, destroyed }: Version): object {
  return { created_time: createdAt, deletion_time: deletedAt, destroyed };
}
