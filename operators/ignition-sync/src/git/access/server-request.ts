import type { Clock } from '@bowline/machinery';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { GitError } from '../errors/git-error.ts';
import type { GitProxy } from './git-credentials.ts';

/** ServerAccess configures connections to the HTTP API of a Git server. */
export interface ServerAccess {
  /** Certificate authorities (PEM) to trust instead of the system's. Defaults to the system's. */
  readonly ca?: string | undefined;
  /** Defaults to none. */
  readonly proxy?: GitProxy | undefined;
  readonly clock: Clock;
  /** The longest duration of a request. Defaults to 30 seconds. */
  readonly timeoutMs?: number | undefined;
}

/** ServerRequest is one request to the HTTP API of a Git server. */
export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The maximum size of the response. */
  readonly maxBytes: number;
  /** What to do if the response is larger. */
  readonly remedy: string;
  readonly signal?: AbortSignal | undefined;
}

/** ServerResponse is the response of the HTTP API of a Git server. Its text must not reach users. */
export interface ServerResponse {
  readonly status: number;
  readonly text: string;
}

const TIMEOUT_MS = 30_000;
/** USER_AGENT is how the operator and its agents identify themselves to Git servers. */
export const USER_AGENT = 'bowline-ignition-sync';

/**
 * sendServerRequest sends a request on a connection of its own, which is closed afterwards. Redirects are not followed: they could
 * carry a credential to another host. It throws a GitError that has the host and no text of the server.
 */
export async function sendServerRequest(sent: ServerRequest, access: ServerAccess): Promise<ServerResponse> {
  const { method, url, headers, body, signal } = sent;
  const { clock, timeoutMs = TIMEOUT_MS } = access;
  const timeout = new AbortController();
  using _timer = clock.setTimer(timeoutMs, () => timeout.abort());
  const dispatcher = serverDispatcher(access);
  try {
    const response = await request(url, {
      method,
      headers: { 'user-agent': USER_AGENT, ...headers },
      ...(body === undefined ? {} : { body }),
      dispatcher,
      signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
    });
    return { status: response.statusCode, text: await readText(response.body, sent) };
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof GitError ? error : connectionError(error, url.host, timeout.signal.aborted ? timeoutMs : 0);
  } finally {
    await dispatcher.destroy();
  }
}

/** serverDispatcher returns connections to a Git server. Destroy it after use. Its requests have no timeouts of their own. */
export function serverDispatcher({ ca, proxy, timeoutMs = TIMEOUT_MS }: ServerAccess): Dispatcher {
  const limits = { connect: { ca, timeout: timeoutMs }, headersTimeout: 0, bodyTimeout: 0 };
  if (proxy === undefined) return new Agent(limits);
  const { https, no = '' } = proxy;
  return new EnvHttpProxyAgent({ ...limits, requestTls: { ca }, httpProxy: https, httpsProxy: https, noProxy: no });
}

/** connectionError describes why a Git server did not answer. `timeoutMs` is 0 unless the time was over. */
export function connectionError(error: unknown, host: string, timeoutMs: number): GitError {
  if (timeoutMs > 0) {
    return new GitError('Timeout', `${host} did not respond within ${timeoutMs / 1_000} s`, {
      host,
      remedy: 'it is retried',
    });
  }
  const code = String((error as { readonly code?: unknown } | null)?.code ?? '');
  if (/CERT|SIGNATURE|ISSUER|TLS|SSL/.test(code)) {
    return new GitError('TlsFailed', `the certificate of ${host} is not trusted`, {
      host,
      remedy: 'set git.caSecretRef',
    });
  }
  return new GitError('HostUnreachable', `${host} cannot be reached`, {
    host,
    remedy: 'check its address and the proxy; it is retried',
  });
}

async function readText(
  body: Dispatcher.ResponseData['body'],
  { url, maxBytes, remedy }: ServerRequest,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) {
      const problem = `the response of ${url.host} is larger than ${maxBytes} bytes`;
      throw new GitError('TooLarge', problem, { host: url.host, remedy });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
