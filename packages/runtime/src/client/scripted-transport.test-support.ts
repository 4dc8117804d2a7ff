import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';

/** ScriptedResponse is the result of the next request: a response or a failure. */
export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, an object to send as JSON, or the chunks of a stream. */
  readonly body?: string | object | readonly (string | Uint8Array)[];
  readonly error?: Error;
}

/** ScriptedTransport answers requests from a list, as a server would, and records what was sent. */
export class ScriptedTransport implements Transport {
  readonly host = 'scripted';
  readonly requests: TransportRequest[] = [];
  closed = false;
  readonly #responses: ScriptedResponse[];

  constructor(...responses: ScriptedResponse[]) {
    this.#responses = responses;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    try {
      request.signal?.throwIfAborted();
      request.beforeSend?.();
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.requests.push(request);
    const response = this.#responses.shift();
    if (!response) return Promise.reject(new Error(`no scripted response left for ${request.method} ${request.path}`));
    if (response.error) return Promise.reject(response.error);
    const chunks = chunksOf(response.body ?? '');
    return Promise.resolve({
      status: response.status ?? 200,
      headers: response.headers ?? {},
      body: (async function* () {
        yield* chunks;
      })(),
      text: () => Promise.resolve(Buffer.concat(chunks).toString('utf8')),
      aliveAt: () => 7,
    });
  }

  /** sent returns the body of the nth request. */
  sent(index: number): unknown {
    const body = this.requests[index]?.body;
    return typeof body === 'string' ? JSON.parse(body) : undefined;
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function chunksOf(body: NonNullable<ScriptedResponse['body']>): Uint8Array[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  if (Array.isArray(body)) return body.map((chunk: string | Uint8Array) => Buffer.from(chunk));
  return [Buffer.from(JSON.stringify(body))];
}
