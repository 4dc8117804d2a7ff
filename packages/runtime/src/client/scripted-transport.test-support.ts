import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';

/** ScriptedAnswer is the result of the next request: a response or a failure. */
export interface ScriptedAnswer {
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
  readonly #answers: ScriptedAnswer[];

  constructor(...answers: ScriptedAnswer[]) {
    this.#answers = answers;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    try {
      request.signal?.throwIfAborted();
      request.beforeSend?.();
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.requests.push(request);
    const answer = this.#answers.shift();
    if (!answer) return Promise.reject(new Error(`no scripted response left for ${request.method} ${request.path}`));
    if (answer.error) return Promise.reject(answer.error);
    const chunks = chunksOf(answer.body ?? '');
    return Promise.resolve({
      status: answer.status ?? 200,
      headers: answer.headers ?? {},
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

function chunksOf(body: NonNullable<ScriptedAnswer['body']>): Uint8Array[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  if (Array.isArray(body)) return body.map((chunk: string | Uint8Array) => Buffer.from(chunk));
  return [Buffer.from(JSON.stringify(body))];
}
