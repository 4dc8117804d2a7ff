import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';

/** SentReview is an access review as sent. */
export interface SentReview {
  /** `verb resource namespace/name`; `*` for parts that are not set. */
  readonly question: string;
  readonly local: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
}

/**
 * ReviewingTransport is an API server that answers access reviews: it allows the questions of its list, written as
 * `SentReview.question`, and those that one with `*` covers.
 */
export class ReviewingTransport implements Transport {
  readonly host = 'reviewing';
  readonly sentReviews: SentReview[] = [];
  readonly #allowed: ReadonlySet<string>;

  constructor(...allowed: string[]) {
    this.#allowed = new Set(allowed);
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    const { spec } = JSON.parse(String(request.body)) as {
      spec: { resourceAttributes: Record<string, string | undefined> };
    };
    const { verb, group, resource, subresource, namespace, name } = spec.resourceAttributes;
    const kind = `${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`;
    const question = (where = '*', what = '*'): string => `${verb} ${kind} ${where}/${what}`;
    const local = request.path.includes('/localsubjectaccessreviews');
    this.sentReviews.push({ question: question(namespace, name), local, spec });
    const covering = [question(namespace, name), question(namespace), question(undefined, name), question()];
    const allowed = covering.some((each) => this.#allowed.has(each));
    return new ScriptedTransport({ status: 201, body: { status: { allowed } } }).request(request);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
