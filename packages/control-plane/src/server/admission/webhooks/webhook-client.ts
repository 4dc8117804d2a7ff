import type { Agent, RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import type { WebhookClientConfig } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { Storage } from '../../storage/storage.ts';
import { CallFailure, networkFailure, statusFailure } from './call-failure.ts';
import { type ServiceAddress, type ServiceResolver, serviceAddress } from './service-address.ts';
import type { Webhook } from './webhook.ts';

/** WebhookClientOptions configures how webhooks are reached. */
export interface WebhookClientOptions {
  readonly storage: Storage;
  /** Used for the timeouts of calls. */
  readonly clock: Clock;
  /** Resolves Services to addresses. Defaults to none: Services with a cluster IP are not reachable. */
  readonly resolveService?: ServiceResolver | undefined;
}

/** A response may hold a base64 patch that replaces a whole object of the maximum size, but not more. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
const DEFAULT_SERVICE_PORT = 443;
/** How long an idle connection stays open. */
const IDLE_TIMEOUT_MS = 30_000;

/** WebhookClient calls webhooks. Disposing of it closes its connections. */
export class WebhookClient implements Disposable {
  readonly #options: WebhookClientOptions;
  /** The agent itself separates connections by address, server name and certificate authority. */
  #agent: Agent | undefined;

  constructor(options: WebhookClientOptions) {
    this.#options = options;
  }

  /** call sends a review and returns the parsed response unchecked. It throws a CallFailure if the call fails. */
  async call({ clientConfig, timeoutSeconds }: Webhook, review: string, signal: AbortSignal): Promise<unknown> {
    const requestUrl = `${urlOf(clientConfig)}?timeout=${timeoutSeconds}s`;
    const ended = new AbortController();
    const end = (): void => ended.abort('context canceled');
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    using _timer = this.#options.clock.setTimer(timeoutSeconds * 1_000, () => ended.abort('context deadline exceeded'));
    try {
      const { status, body } = await this.#post(clientConfig, new URL(requestUrl), review, ended.signal);
      if (status < 200 || status > 206) throw new ServerFailure(statusFailure(status, body));
      return parse(body);
    } catch (error) {
      if (error instanceof ServerFailure) throw new CallFailure(`failed to call webhook: ${error.message}`);
      const why = ended.signal.aborted ? String(ended.signal.reason) : failureOf(error);
      throw new CallFailure(`failed to call webhook: Post ${JSON.stringify(requestUrl)}: ${why}`);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  [Symbol.dispose](): void {
    this.#agent?.destroy();
  }

  async #post(config: WebhookClientConfig, url: URL, review: string, signal: AbortSignal): Promise<HttpResponse> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const address = await this.#addressOf(config, { host, port: Number(url.port) || DEFAULT_SERVICE_PORT });
    // Many servers never call a webhook, and loading TLS takes time.
    const https = await import('node:https');
    signal.throwIfAborted();
    this.#agent ??= new https.Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 4, timeout: IDLE_TIMEOUT_MS });
    const options: RequestOptions = {
      ...address,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: {
        host: url.host,
        'content-type': 'application/json',
        accept: 'application/json, */*',
        'user-agent': 'kube-apiserver-admission',
        'content-length': Buffer.byteLength(review),
      },
      agent: this.#agent,
      // The certificate must match the configured host, whatever it resolves to. An IP address is not a valid server
      // name.
      servername: isIP(host) ? '' : host,
      ...(config.caBundle ? { ca: Buffer.from(config.caBundle, 'base64') } : {}),
      signal,
    };
    return send(https, options, review);
  }

  async #addressOf({ url, service }: WebhookClientConfig, given: ServiceAddress): Promise<ServiceAddress> {
    if (url || !service) return given;
    const { namespace = '', name = '', port = DEFAULT_SERVICE_PORT } = service;
    const { storage, resolveService } = this.#options;
    return serviceAddress(storage, { namespace, name, port }, resolveService);
  }
}

interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

function send(https: typeof import('node:https'), options: RequestOptions, review: string): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let hasResponse = false;
    const sent = https.request(options, (response) => {
      hasResponse = true;
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MAX_RESPONSE_BYTES)
          response.destroy(new CallFailure(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`));
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle connection: retry on a new one and report no failure.
      if (sent.reusedSocket && !hasResponse && error.code === 'ECONNRESET') resolve(send(https, options, review));
      else reject(error);
    });
    sent.end(review);
  });
}

/** ServerFailure is a failure that the server itself reported: the message then omits the address. */
class ServerFailure extends Error {}

function urlOf({ url, service }: WebhookClientConfig): string {
  if (url) {
    try {
      return new URL(url).href;
    } catch {
      throw new CallFailure('could not get REST client: the URL of the webhook is not valid');
    }
  }
  const { namespace = '', name = '', port = DEFAULT_SERVICE_PORT, path = '' } = service ?? {};
  return `https://${name}.${namespace}.svc:${port}${path || '/'}`;
}

function failureOf(error: unknown): string {
  return error instanceof CallFailure ? error.message : networkFailure(error);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new ServerFailure("couldn't get version/kind; json parse error: the response is not JSON");
  }
}
