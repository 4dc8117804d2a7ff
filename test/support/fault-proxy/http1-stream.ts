import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { Duplex } from 'node:stream';

/**
 * Http1Stream makes a request to a server that speaks HTTP/1.1 without TLS look like a stream of HTTP/2, as far as an
 * exchange looks at it: the body goes in, `response` tells status and headers, the answer comes out.
 */
export class Http1Stream extends Duplex {
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;

  constructor(url: URL, method: string, headers: OutgoingHttpHeaders) {
    super();
    // A connection each: what happens to one is no other's business.
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

  /** close gives up what is not there yet. */
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
