import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GitRunner } from '../../git/runner/git-runner.ts';

/** GitHttpServerOptions configures a server of repositories. */
export interface GitHttpServerOptions {
  readonly runner: GitRunner;
  /** The folder with the bare repositories. */
  readonly folder: string;
  /** The password of HTTP basic authentication, with any user name. */
  readonly token: string;
  /** The port on 127.0.0.1. Defaults to 0, any free port. */
  readonly port?: number | undefined;
  /** Called after each push, before the client gets the response. Defaults to nothing. */
  readonly onPush?: ((repository: string) => Promise<void>) | undefined;
  /** Called with what a request failed with. Defaults to nothing. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const MAX_CONNECTIONS = 64;
/** `/plant.git/info/refs`, `/plant.git/git-upload-pack`, `/plant.git/git-receive-pack`. */
const REQUEST = /^\/([a-z0-9][a-z0-9-]*\.git)\/(info\/refs|git-upload-pack|git-receive-pack)$/;
const SETTINGS = [
  ['http.receivepack', 'true'],
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowReachableSHA1InWant', 'true'],
] as const;

/**
 * GitHttpServer serves bare repositories on 127.0.0.1 with git's own http-backend, for trials: it needs no more than git
 * itself, and clients see a Git server as they see any other.
 */
export class GitHttpServer implements AsyncDisposable {
  readonly #options: GitHttpServerOptions;
  readonly #server: Server;
  readonly #active = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  private constructor(options: GitHttpServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#accept(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** start serves the repositories. */
  static async start(options: GitHttpServerOptions): Promise<GitHttpServer> {
    const served = new GitHttpServer(options);
    served.#server.listen(options.port ?? 0, '127.0.0.1');
    await once(served.#server, 'listening');
    return served;
  }

  /** port is the port on 127.0.0.1. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** urlOf returns the address of a repository. */
  urlOf(repository: string): string {
    return `http://127.0.0.1:${this.port}/${repository}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await Promise.allSettled(this.#active);
    await closed;
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const done = this.#respond(request, response).catch((error: unknown) => {
      if (!this.#stopped.signal.aborted && !response.destroyed) this.#options.onError?.(error);
      response.destroy();
    });
    this.#active.add(done);
    done.finally(() => this.#active.delete(done)).catch(() => undefined);
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '/', 'http://server');
    const [, repository = '', service] = REQUEST.exec(pathname) ?? [];
    if (repository === '') return fail(response, 404, 'there is no such repository\n');
    if (!this.#isAuthorized(request.headers.authorization)) {
      response.setHeader('www-authenticate', 'Basic realm="git", charset="UTF-8"');
      return fail(response, 401, 'the token is missing or wrong\n');
    }
    const end = await this.#runBackend(request, response, { pathname, query: search.slice(1) });
    if (service === 'git-receive-pack' && response.statusCode === 200) await this.#options.onPush?.(repository);
    response.end(end);
  }

  #isAuthorized(header = ''): boolean {
    const [scheme = '', value = ''] = header.split(' ', 2);
    if (scheme.toLowerCase() !== 'basic') return false;
    const password = Buffer.from(value, 'base64').toString().split(/:(.*)/s, 2)[1] ?? '';
    const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(password), digest(this.#options.token));
  }

  /** http-backend is a CGI program. Returns the end of its output, which the client waits for. */
  async #runBackend(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname, query }: { readonly pathname: string; readonly query: string },
  ): Promise<Buffer> {
    const { runner, folder } = this.#options;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const backend = runner.start({
      args: ['http-backend'],
      settings: SETTINGS,
      env: {
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: request.method ?? 'GET',
        PATH_INFO: pathname,
        QUERY_STRING: query,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_USER: 'trial',
        REMOTE_ADDR: '127.0.0.1',
      },
      signal: AbortSignal.any([this.#stopped.signal, gone.signal]),
    });
    request.pipe(backend.stdin);
    let head: Buffer | undefined = Buffer.alloc(0);
    let last: Buffer = Buffer.alloc(0);
    for await (const chunk of backend.stdout as AsyncIterable<Buffer>) {
      if (head === undefined) {
        if (!response.write(last)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
        last = chunk;
        continue;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) continue;
      writeHead(response, head.subarray(0, end).toString('latin1'));
      last = head.subarray(end + 4);
      head = undefined;
    }
    // It may fail after its answer, which has the reason for the client: for example, that a commit does not exist.
    await backend.ended.catch((error: unknown) => {
      if (head !== undefined) throw error;
    });
    return last;
  }
}

function fail(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}

/** writeHead translates the header lines of a CGI program. */
function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [name = '', value = ''] = line.split(/:\s*(.*)/s, 2);
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
