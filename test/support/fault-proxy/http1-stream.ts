import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { Duplex } from 'node:stream';

/**
 * Http1Stream wraps a request to a server that uses HTTP/1.1 without TLS in the interface of an HTTP/2 stream, as far as an
 * exchange uses it: the body is written, `response` reports status and headers, and the response body is read.
 */
export class Http1Stream extends Duplex {
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;

  constructor(url: URL, method: string, headers: OutgoingHttpHeaders) {
    super();
    // One connection each, so that a fault of one request does not affect others.
    this.#request = request(url, { method, headers, agent: false });
    this.#request.on('error', (error) => this.destroy(error));
    this.#request.on('response', (response) => {
      this.#response = response;
      response.on('data', (chunk: Buffer) => {
        if (!this.push(chunk)) response.pause();
      });
      response.on('end', () => this.push(null));
      response.on('error', (error) => this.destroy(error));
      this.emit('response', { ...response.headers, ':status': response.statusCode });
    });
  }

  /** close abandons what has not arrived yet. */
  close(): void {
    this.destroy();
  }

  override _read(): void {
    this.#response?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#request.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#request.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#request.destroy();
    done(error);
  }
}
