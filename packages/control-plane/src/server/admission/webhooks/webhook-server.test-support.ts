import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';

/** ReviewRequest is the request of a review that the server received. */
export type ReviewRequest = Record<string, unknown> & {
  readonly uid: string;
  readonly operation: string;
  readonly name?: string;
  readonly object: { readonly metadata: Record<string, unknown> } | null;
  readonly oldObject: { readonly metadata: Record<string, unknown> } | null;
};

/** Reply is the response of a webhook: the response of a review, or any other body with a status. */
export type Reply =
  | { readonly response: Readonly<Record<string, unknown>> }
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Never responds. */
  | 'silence';

/** WebhookServer serves webhooks on loopback and records the requests that it receives. */
export interface WebhookServer extends AsyncDisposable {
  readonly url: string;
  /** The certificate authority, in the format of `caBundle`. */
  readonly caBundle: string;
  /** The requests received at a path, in order. */
  received(path: string): readonly ReviewRequest[];
  clearRequests(): void;
  /** closeConnections closes all connections without notice, as a server does with idle ones. */
  closeConnections(): void;
}

/** patch returns a response that patches the object. */
export function patch(...operations: readonly object[]): Reply {
  const text = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { response: { allowed: true, patchType: 'JSONPatch', patch: text } };
}

/** startWebhookServer starts a server that answers each path with its function in `replies`. */
export async function startWebhookServer(
  replies: Readonly<Record<string, (received: ReviewRequest) => Reply>>,
): Promise<WebhookServer> {
  const authority = await createCertificateAuthority({ commonName: 'webhooks' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'webhooks',
    ipAddresses: ['127.0.0.1'],
    dnsNames: ['hooks.default.svc'],
    usages: ['server'],
  });
  let seen: { readonly path: string; readonly received: ReviewRequest }[] = [];
  const server = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { pathname } = new URL(request.url ?? '/', 'https://localhost');
      const review = JSON.parse(text || '{}') as {
        readonly apiVersion: string;
        readonly kind: string;
        readonly request: ReviewRequest;
      };
      const received = review.request;
      seen.push({ path: pathname, received });
      const reply = replies[pathname]?.(received) ?? { status: 404 };
      if (reply === 'silence') return;
      if ('status' in reply) {
        response.writeHead(reply.status, reply.headers).end(reply.body);
        return;
      }
      const { apiVersion, kind } = review;
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ apiVersion, kind, response: { uid: received.uid, ...reply.response } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    received: (path) => seen.filter((each) => each.path === path).map(({ received }) => received),
    clearRequests() {
      seen = [];
    },
    closeConnections: () => server.closeAllConnections(),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
