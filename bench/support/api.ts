import type { ClientHttp2Session } from 'node:http2';
import { type Connection, openSession } from './connection.ts';

/** ApiResponse is a response that was read to its end. */
export interface ApiResponse {
  readonly status: number;
  readonly text: string;
}

/** Api is a plain client for preparing a scene; it is never measured. */
export class Api implements AsyncDisposable {
  readonly #connection: Connection;
  #session: ClientHttp2Session;
  #failure: Error | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#session = this.#open();
  }

  #open(): ClientHttp2Session {
    const session = openSession(this.#connection);
    session.on('error', (error) => {
      this.#failure = error;
    });
    return session;
  }

  /** request sends one request and reads the whole response. */
  request(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      // The API server closes sessions that were idle for 90 s.
      if (this.#session.closed) this.#session = this.#open();
      const stream = this.#session.request({
        ':method': method,
        ':path': path,
        accept: 'application/json',
        'user-agent': 'bowline-bench',
        ...(body === undefined ? {} : { 'content-type': contentType }),
      });
      let status = 0;
      const chunks: Buffer[] = [];
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }));
      stream.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** ok is `request` that rejects every status other than 2xx and those listed. */
  async ok(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
    also: readonly number[] = [],
  ): Promise<string> {
    const response = await this.request(method, path, body, contentType);
    if ((response.status >= 200 && response.status < 300) || also.includes(response.status)) return response.text;
    throw new Error(`${method} ${path} returned ${response.status}: ${response.text.slice(0, 500)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#session.destroyed) resolve();
      else this.#session.close(resolve);
    });
  }
}

/** inParallel runs the work over all items with limited concurrency. The API server's write rate is flat from about 16. */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
