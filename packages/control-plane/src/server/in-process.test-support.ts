import { strategicMerge, VirtualClock } from '@bowline/machinery';
import type { AdmissionPlugin } from './admission/admission.ts';
import { type ApiServer, createApiServer } from './api-server.ts';
import type { AuditTrail } from './audit/audit-trail.ts';
import { trackFields } from './fields/track-fields.ts';
import type { KubeletRequester } from './handlers/kubelet-client.ts';
import { builtInResources } from './registry/built-in-resources.ts';
import { Registry } from './registry/registry.ts';
import { Storage } from './storage/storage.ts';

/** TestResponse is a response with a parsed JSON body. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Record<string, unknown> & {
    metadata?: Record<string, unknown>;
    items?: Record<string, unknown>[];
    message?: string;
  };
}

/** TestServer is a server in the same process, without a socket, that allows every request. */
export interface TestServer {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  call(method: string, url: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  /** stream starts a watch; each value is one line. */
  stream(url: string, signal?: AbortSignal): Promise<AsyncGenerator<Record<string, unknown>>>;
}

/** startTestServer starts a server with the built-in kinds. */
export function startTestServer({
  admission = [],
  requestKubelet,
  audit,
}: {
  admission?: readonly AdmissionPlugin[];
  requestKubelet?: KubeletRequester;
  audit?: AuditTrail;
} = {}): TestServer {
  const clock = new VirtualClock();
  const registry = new Registry();
  const server = createApiServer({
    authenticator: { authenticate: () => ({ username: 'admin', groups: ['system:masters'] }) },
    authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
    registry,
    fields: trackFields(registry),
    strategicMerge,
    admission,
    requestKubelet,
    audit,
    routes: [],
    clock,
    storage: new Storage({ clock, history: { changes: 100 } }),
    onError: (error) => {
      throw error;
    },
  });
  server.registry.set(...builtInResources());
  const send = (
    method: string,
    url: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) =>
    server.handle({
      method,
      url,
      headers: { 'content-type': 'application/json', ...headers },
      body: () =>
        Promise.resolve(
          body instanceof Uint8Array
            ? body
            : Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)),
        ),
      signal,
      connection: { remoteAddress: '127.0.0.1', isSecure: true },
    });
  return {
    server,
    clock,
    async call(method, url, body, headers = {}) {
      const response = await send(method, url, body, headers, new AbortController().signal);
      const isJson = response.headers['content-type'] === 'application/json';
      if (isJson && typeof response.body !== 'string')
        throw new TypeError(`the response to ${method} ${url} is not text`);
      const text = typeof response.body === 'string' ? response.body : await textOf(response.body);
      return { ...response, body: isJson ? (JSON.parse(text) as TestResponse['body']) : { message: text } };
    },
    async stream(url, signal = new AbortController().signal) {
      const { body } = await send('GET', url, undefined, {}, signal);
      if (typeof body === 'string' || body instanceof Uint8Array)
        throw new TypeError(`the response to GET ${url} is not a stream: ${String(body)}`);
      return lines(body);
    },
  };
}

async function* lines(chunks: AsyncIterable<string>): AsyncGenerator<Record<string, unknown>> {
  for await (const chunk of chunks) {
    for (const line of chunk.split('\n')) if (line !== '') yield JSON.parse(line) as Record<string, unknown>;
  }
}

async function textOf(body: Uint8Array | AsyncIterable<string>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}
