import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { cleanGitEnvironment } from './git-program.ts';

/** GitBackend is the state of a server's http-backend. */
export interface GitBackend {
  /** The folder with the repositories. */
  readonly folder: string;
  /** The number of bytes that were sent. */
  sentBytes: number;
}

/** runBackend answers one request by git's http-backend, a CGI program. */
export async function runBackend(
  backend: GitBackend,
  request: IncomingMessage,
  response: ServerResponse,
  { protocolV2 }: { readonly protocolV2: boolean },
): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '/', 'http://server');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...cleanGitEnvironment(backend.folder),
      GIT_PROJECT_ROOT: backend.folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_USER: 'test',
      REMOTE_ADDR: '127.0.0.1',
      GIT_PROTOCOL: protocolV2 ? String(request.headers['git-protocol'] ?? '') : '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const closed = once(response, 'close');
  response.on('close', () => child.kill());
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    let body = chunk;
    if (head) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) continue;
      writeHead(response, head.subarray(0, end).toString('latin1'));
      body = head.subarray(end + 4);
      head = undefined;
    }
    backend.sentBytes += body.length;
    if (!response.write(body)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}

/** writeHead translates the header lines of a CGI program. */
function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [name = '', value = ''] = line.split(/:\s*/, 2);
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
