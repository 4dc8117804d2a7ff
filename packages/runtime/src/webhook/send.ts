import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpProblem } from './http-problem.ts';

/** SendOptions configures how a response is sent. */
export interface SendOptions {
  readonly type: string;
  /** Whether to close the connection after the response. */
  readonly close: boolean;
}

/** send responds to a request unless it already has a response or its connection is closed. */
export function send(response: ServerResponse, status: number, body: string, { type, close }: SendOptions): void {
  if (response.destroyed || response.headersSent) return;
  if (close) response.shouldKeepAlive = false;
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'POST' } : {}),
  });
  response.end(body);
}

/**
 * refuse responds with an error instead of a review. An unread body is drained, so that the response arrives, but only
 * up to a limit.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message }: HttpProblem,
  { close, maxBodyBytes }: { readonly close: boolean; readonly maxBodyBytes: number },
): void {
  if (!request.complete) {
    let left = 2 * maxBodyBytes;
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) request.destroy();
    });
  }
  send(response, status, `${message}\n`, {
    type: 'text/plain; charset=utf-8',
    close: close || !request.complete,
  });
}
