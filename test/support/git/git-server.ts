import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { type GitBackend, runBackend } from './git-backend.ts';
import { type GitRepositories, gitRepositories } from './git-repositories.ts';

/** GitFault is how the server fails. */
export type GitFault =
  /** A redirect to another address. */
  | { readonly kind: 'redirect'; readonly to: string }
  /** No response at all. */
  | { readonly kind: 'hang' }
  /** A ref advertisement that never ends. */
  | { readonly kind: 'endless-refs' }
  /** A pack that never ends. */
  | { readonly kind: 'endless-pack' }
  | { readonly kind: 'status'; readonly status: number; readonly body?: string };

/** GitServerOptions configures a server. */
export interface GitServerOptions {
  /** The user name and password that are required. Defaults to none. */
  readonly auth?: { readonly username: string; readonly password: string };
  /** Whether to serve without TLS. Defaults to false. */
  readonly plain?: boolean;
  /** Called when a request arrives. Defaults to nothing. */
  readonly onRequest?: (request: GitRequest) => void;
  /** Handles requests for something other than repositories: it returns whether it responds. Defaults to none. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** GitRequest is one request that the server received. */
export interface GitRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
}

/** GitServer serves bare repositories by git's own http-backend over HTTPS on loopback. */
export interface GitServer extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  /** The certificate authority of its certificate. */
  readonly ca: string;
  readonly repositories: GitRepositories;
  readonly requests: readonly GitRequest[];
  /** The number of bytes that http-backend has sent. */
  readonly sentBytes: number;
  /** How all further requests fail; undefined: they do not. */
  fault: GitFault | undefined;
  /** Whether clients may use protocol version 2. */
  protocolV2: boolean;
}

/** startGitServer runs a server on a free port. */
export async function startGitServer(options: GitServerOptions = {}): Promise<GitServer> {
  const authority = await createCertificateAuthority({ commonName: 'git test' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  const repositories = await gitRepositories();
  const requests: GitRequest[] = [];
  const backend: GitBackend = { folder: repositories.folder, sentBytes: 0 };
  const server = options.plain ? createHttpServer() : createServer({ cert: certificatePem, key: keyPem });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (options.answer?.(request, response)) return;
    const { method = '', url = '', headers } = request;
    const received = { method, url, authorization: headers.authorization };
    requests.push(received);
    options.onRequest?.(received);
    if (served.fault && fail(served.fault, request, response)) return;
    if (!isAuthorized(options.auth, headers.authorization)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('the password was wrong');
      return;
    }
    runBackend(backend, request, response, { protocolV2: served.protocolV2 }).catch(() => response.destroy());
  };
  server.on('request', handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const served: GitServer = {
    fault: undefined,
    protocolV2: true,
    url: `${options.plain ? 'http' : 'https'}://${host}`,
    host,
    ca: authority.certificatePem,
    repositories,
    requests,
    get sentBytes() {
      return backend.sentBytes;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await repositories[Symbol.asyncDispose]();
    },
  };
  return served;
}

function isAuthorized(auth: GitServerOptions['auth'], header: string | undefined): boolean {
  if (auth === undefined) return true;
  return header === `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
}

/** fail responds with a fault, and returns whether it applies to the request. */
function fail(fault: GitFault, request: IncomingMessage, response: ServerResponse): boolean {
  const isRefs = request.url?.includes('/info/refs') ?? false;
  switch (fault.kind) {
    case 'redirect':
      response.writeHead(302, { location: `${fault.to}${request.url}` }).end();
      return true;
    case 'hang':
      return true;
    case 'status':
      response.writeHead(fault.status).end(fault.body ?? 'the server failed');
      return true;
    case 'endless-refs':
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
      response.write(`${packet('# service=git-upload-pack\n')}0000`);
      pour(response, (index) =>
        Buffer.from(packet(`${'1'.repeat(40)} refs/heads/${index}${'x'.repeat(900)}\n`).repeat(64)),
      );
      return true;
    case 'endless-pack':
      if (isRefs || !request.url?.endsWith('git-upload-pack')) return false;
      return endlessPack(request, response);
  }
}

/** endlessPack answers a fetch by hash, which needs no list of refs, with one object that never ends. */
function endlessPack(request: IncomingMessage, response: ServerResponse): true {
  response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
  response.write(packet('packfile\n'));
  // A pack with one object: a stored (not compressed) blob of 2³⁹ bytes.
  const start = Buffer.from('5041434b0000000200000001', 'hex');
  const size = Buffer.from([0xb0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]);
  response.write(sideband(Buffer.concat([start, size, Buffer.from([0x78, 0x01])])));
  const stored = Buffer.alloc(32_768, 7);
  const block = Buffer.concat([Buffer.from([0x00, 0x00, 0x80, 0xff, 0x7f]), stored]);
  const chunk = sideband(block);
  pour(response, () => chunk);
  request.resume();
  return true;
}

/** pour writes for as long as the client reads. */
function pour(response: ServerResponse, chunk: (index: number) => Buffer): void {
  let index = 0;
  const write = (): void => {
    while (!response.destroyed && response.write(chunk(index++)));
  };
  response.on('drain', write);
  write();
}

function packet(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
}

function sideband(bytes: Buffer): Buffer {
  const length = (bytes.length + 5).toString(16).padStart(4, '0');
  return Buffer.concat([Buffer.from(length), Buffer.from([1]), bytes]);
}
