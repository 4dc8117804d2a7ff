import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import type { LfsObject } from '../../engine/sync/blob-source.ts';
import { type Answer, startLoopbackServer } from '../../testing/loopback-server.test-support.ts';

/** LfsServer is a Git LFS server with the batch API, as its specification describes it (docs/api/batch.md of git-lfs). */
export interface LfsServer extends AsyncDisposable {
  /** The address of the repository. */
  readonly url: string;
  readonly ca: string;
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
  /** store adds an object and returns what its pointer contains. */
  store(content: Buffer): LfsObject;
  /** Changes the entry of an object in responses of the batch API. */
  change: (entry: BatchEntry) => unknown;
  /** Replaces the response to requests whose path contains the text. */
  fault: { readonly at: string; readonly answer: (response: ServerResponse) => void } | undefined;
}

/** BatchEntry is an object in a response of the batch API. */
export interface BatchEntry {
  readonly oid: string;
  readonly size: number;
  readonly authenticated?: boolean;
  readonly actions?: { readonly download: { readonly href: string; readonly header?: object } };
  readonly error?: { readonly code: number; readonly message: string };
}

/** startLfsServer runs a server on a free port that requires a user and a password. */
export async function startLfsServer(password: string): Promise<LfsServer> {
  const authority = await createCertificateAuthority({ commonName: 'lfs test' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'localhost',
    dnsNames: ['localhost'],
    usages: ['server'],
  });
  const objects = new Map<string, Buffer>();
  const answer: Answer = (request, response, sent) => {
    const path = request.url ?? '';
    const body = sent.toString();
    served.requests.push({ path, headers: request.headers, body });
    if (served.fault && path.includes(served.fault.at)) return served.fault.answer(response);
    const expected = `Basic ${Buffer.from(`x-access-token:${password}`).toString('base64')}`;
    if (request.headers.authorization !== expected) return response.writeHead(401).end(`not ${expected}`);
    if (path === '/team/plant.git/info/lfs/objects/batch') return batch(JSON.parse(body), response);
    const content = objects.get(path.slice('/objects/'.length));
    return content ? response.end(content) : response.writeHead(404).end();
  };
  const batch = (sent: { objects: LfsObject[] }, response: ServerResponse): void => {
    const entries = sent.objects.map(({ oid, size }): unknown =>
      served.change(
        objects.has(oid)
          ? { oid, size, authenticated: true, actions: { download: { href: `${origin}/objects/${oid}` } } }
          : { oid, size, error: { code: 404, message: 'Object does not exist' } },
      ),
    );
    response.setHeader('content-type', 'application/vnd.git-lfs+json');
    response.end(JSON.stringify({ transfer: 'basic', objects: entries, hash_algo: 'sha256' }));
  };
  const server = await startLoopbackServer(answer, { cert: certificatePem, key: keyPem });
  const origin = `https://localhost:${server.port}`;
  const served: LfsServer = {
    url: `${origin}/team/plant.git`,
    ca: authority.certificatePem,
    requests: [],
    store(content) {
      const oid = createHash('sha256').update(content).digest('hex');
      objects.set(oid, content);
      return { oid, size: content.length };
    },
    change: (entry) => entry,
    fault: undefined,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return served;
}
