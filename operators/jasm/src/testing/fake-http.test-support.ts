import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** FakeRequest is a request to a fake store. */
export interface FakeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** FakeResponse is the response of a fake store: JSON, or a text as is. */
export interface FakeResponse {
  readonly status: number;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * FakeFault is what a fake store does instead of responding: another response, a closed connection, half a response, or
 * nothing until the caller leaves.
 */
export type FakeFault = FakeResponse | 'reset' | 'cut' | 'hang';

/** FakeServing handles a request to a fake store. */
type FakeServing = (request: FakeRequest) => FakeFault | Promise<FakeFault>;

/** FakeHttp is a server on loopback that records its requests, without values, and fails on demand. */
export class FakeHttp implements AsyncDisposable {
  /** Method and path of each request, in order. */
  readonly calls: string[] = [];
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #faults: { readonly fault: FakeFault; readonly path: RegExp }[] = [];
  #whenHanging: () => void = () => {};

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(answer: FakeServing): Promise<FakeHttp> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const fake = new FakeHttp(server);
    server.on('connection', (socket) => {
      fake.#sockets.add(socket);
      socket.once('close', () => fake.#sockets.delete(socket));
    });
    server.on('request', (request, response) => {
      void fake.#handle(request, response, answer);
    });
    return fake;
  }

  /** fail makes the next requests with a matching path fail, one fault each. */
  fail(path: RegExp, ...faults: readonly FakeFault[]): void {
    this.#faults.push(...faults.map((fault) => ({ fault, path })));
  }

  /** hanging resolves when a request has arrived that will not be answered. */
  hanging(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenHanging = resolve;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse, answer: FakeServing): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', headers } = request;
    const url = new URL(request.url ?? '/', this.url);
    this.calls.push(`${method} ${url.pathname}`);
    const index = this.#faults.findIndex(({ path }) => path.test(url.pathname));
    const [found] = index < 0 ? [] : this.#faults.splice(index, 1);
    const outcome = found?.fault ?? (await answer({ method, url, headers, body: Buffer.concat(chunks).toString() }));
    if (outcome === 'hang') this.#whenHanging();
    else if (outcome === 'reset') request.socket.resetAndDestroy();
    else if (outcome === 'cut') {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"data":', () => request.socket.destroy());
    } else send(response, outcome);
  }
}

function send(response: ServerResponse, { status, body = {}, headers }: FakeResponse): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
