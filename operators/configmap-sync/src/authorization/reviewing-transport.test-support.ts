import type { Transport, TransportRequest, TransportResponse } from '@bowline/runtime/client';

/** SentReview is an access review as sent. */
export interface SentReview {
  readonly user: string;
  /** `verb resource namespace/name`; `*` for parts that are not set. */
  readonly right: string;
  readonly local: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
}

/**
 * ReviewingTransport is an API server that answers access reviews: it allows the rights of its list, written as
 * `Question.right`, and those that a right with `*` covers. It has the objects whose paths are in `objects`.
 */
export class ReviewingTransport implements Transport {
  readonly host = 'reviewing';
  readonly sentReviews: SentReview[] = [];
  readonly allowed: Set<string>;
  readonly objects = new Set<string>();

  constructor(...allowed: string[]) {
    this.allowed = new Set(allowed);
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    if (request.method === 'GET') {
      const exists = this.objects.has(request.path);
      return respond(
        exists ? 200 : 404,
        exists
          ? { metadata: { name: 'x' } }
          : { kind: 'Status', code: 404, reason: 'NotFound', details: { name: 'x' } },
      );
    }
    const { spec } = JSON.parse(String(request.body)) as {
      spec: { user: string; resourceAttributes: Record<string, string | undefined> };
    };
    const { verb, resource, namespace, name } = spec.resourceAttributes;
    const right = (where = '*', what = '*'): string => `${verb} ${resource} ${where}/${what}`;
    const local = request.path.includes('/localsubjectaccessreviews');
    this.sentReviews.push({ user: spec.user, right: right(namespace, name), local, spec });
    const covering = [right(namespace, name), right(namespace), right(undefined, name), right()];
    return respond(201, { status: { allowed: covering.some((each) => this.allowed.has(each)) } });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function respond(status: number, body: object): Promise<TransportResponse> {
  const text = JSON.stringify(body);
  return Promise.resolve({
    status,
    headers: {},
    body: (async function* () {
      yield Buffer.from(text);
    })(),
    text: () => Promise.resolve(text),
    aliveAt: () => 0,
  });
}
