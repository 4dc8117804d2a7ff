import type { HttpCall, HttpResponse, JsonHttp } from '../http/json-http.ts';
import type { ProviderContext } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import type { VaultConfig } from './config.ts';

/** VaultCall is one request to Vault. */
export interface VaultCall {
  readonly operation: string;
  /** Below /v1. */
  readonly path: string;
  readonly version?: string | undefined;
  readonly token?: string | undefined;
  readonly body?: HttpCall['body'];
  readonly signal: AbortSignal;
}

/** VaultApi holds the address of Vault and makes calls to it. */
export class VaultApi {
  /** The Vault namespace as messages name it: empty, or starting with a space. */
  readonly inNamespace: string;
  readonly #http: JsonHttp;
  readonly #config: VaultConfig;
  readonly #env: ProviderContext<unknown>['env'];
  readonly #namespace: string | undefined;

  constructor({ http, config, env }: { http: JsonHttp } & Pick<ProviderContext<VaultConfig>, 'config' | 'env'>) {
    this.#http = http;
    this.#config = config;
    this.#env = env;
    this.#namespace = config.namespace ?? env.VAULT_NAMESPACE;
    this.inNamespace = this.#namespace === undefined ? '' : ` in the Vault namespace ${this.#namespace}`;
  }

  call({ operation, path, version, token, body, signal }: VaultCall): Promise<HttpResponse> {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const url = new URL(`${this.#address(operation)}/v1/${encoded}`);
    if (version !== undefined) url.searchParams.set('version', version);
    const headers = {
      // Agents and proxies of Vault can be configured to refuse requests without it, as a protection against request
      // forgery.
      'x-vault-request': 'true',
      ...(this.#namespace === undefined ? {} : { 'x-vault-namespace': this.#namespace }),
      ...(token === undefined ? {} : { 'x-vault-token': token }),
    };
    return this.#http.call({ operation, url, headers, body, signal });
  }

  #address(operation: string): string {
    const { address = this.#env.VAULT_ADDR, allowPlainHttp } = this.#config;
    const refuse = (message: string): never => {
      throw new ProviderError(message, { kind: 'refused', provider: 'vault', operation, code: 'Address' });
    };
    if (address === undefined)
      return refuse('the address of Vault is not configured: set vault.address, or VAULT_ADDR');
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.search}${url.hash}` !== '') {
      return refuse(
        'the address of Vault must be an https:// URL without user, query and fragment: correct vault.address or VAULT_ADDR',
      );
    }
    if (url.protocol === 'http:' && !allowPlainHttp && !isLoopback(url.hostname)) {
      return refuse(`tokens would be sent to ${url.origin} without TLS: use https, or set vault.allowPlainHttp`);
    }
    return url.href.replace(/\/+$/, '');
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
