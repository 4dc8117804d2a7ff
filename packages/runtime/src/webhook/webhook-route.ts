import type { Clock } from '@bowline/machinery';
import type { CacheReads, SourceTypes } from '../controller/sources.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import { decodeReview, encodeReview, type ReviewRequest } from './admission-review.ts';
import type { WebhookClients } from './dry-run-guard.ts';
import { HttpProblem } from './http-problem.ts';
import { respond } from './respond.ts';
import { type Webhook, webhookFullName, webhookPath } from './webhook.ts';

/** Route is an endpoint of the webhook server. */
export interface Route {
  readonly path: string;
  /** The name in metrics and messages. */
  readonly name: string;
  /** The maximum time the caller waits. */
  readonly timeoutMs: number;
  /**
   * respond handles a request body and returns the response body; throws HttpProblem to respond with a status instead.
   */
  respond(body: string, signal: AbortSignal): Promise<object>;
}

/** RouteOptions holds what is passed to handlers. */
export interface RouteOptions {
  readonly operator: string;
  readonly domain: string;
  readonly clients: WebhookClients;
  readonly cache: CacheReads<SourceTypes>;
  readonly deps: unknown;
  readonly clock: Clock;
  readonly log: Log;
}

/** webhookRoute returns the route of a declared webhook. */
export function webhookRoute(webhook: Webhook, options: RouteOptions): Route {
  const name = webhookFullName({ name: options.operator, domain: options.domain }, webhook);
  return {
    path: webhookPath(options.operator, webhook),
    name,
    timeoutMs: webhook.timeoutSeconds * 1000,
    async respond(body, signal) {
      const review = decodeReview(body);
      const log = options.log.with({
        webhook: name,
        operation: review.operation,
        uid: review.uid,
        namespace: review.namespace || undefined,
        name: review.name || undefined,
      });
      const request = requestOf(webhook, review, options, log, signal);
      try {
        // The builder kept the handler and the type of its request consistent.
        const returned: unknown = await webhook.handle(request as never);
        signal.throwIfAborted();
        // Parsed again instead of copied up front: most requests are not changed.
        const response = respond(webhook, review.uid, returned, () => decodeReview(body).object);
        if (!response.allowed) {
          log.info('admission denied', { user: review.userInfo.username, code: response.status?.code });
        }
        return encodeReview(response);
      } catch (error) {
        if (signal.aborted) throw error;
        log.error('webhook handler failed', { error });
        throw new HttpProblem(500, failureText(name, error));
      }
    },
  };
}

function requestOf(
  webhook: Webhook,
  review: ReviewRequest,
  options: RouteOptions,
  log: Log,
  signal: AbortSignal,
): object {
  const dryRun = review.dryRun ?? false;
  return {
    ...options.cache,
    uid: review.uid,
    kind: review.kind,
    resource: review.resource,
    subresource: review.subResource || undefined,
    name: review.name || undefined,
    namespace: review.namespace || undefined,
    operation: review.operation,
    object: review.object ?? undefined,
    oldObject: review.oldObject ?? undefined,
    userInfo: review.userInfo,
    dryRun,
    signal,
    log,
    clock: options.clock,
    deps: options.deps,
    live: options.clients.for(webhook, dryRun, signal),
  };
}

/**
 * The API server displays this text to the user: the code is safe, but the message of an unexpected error may not be.
 */
function failureText(name: string, error: unknown): string {
  const code = error instanceof BowlineError ? ` (${error.code})` : '';
  return `the webhook ${name} failed${code}; see the operator's log`;
}
