import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpProblem } from './http-problem.ts';

/** SendOptions says how an answer goes out. */
export interface SendOptions {
  readonly type: string;
  /** Whether the connection is closed with it. */
  readonly close: boolean;
}

/** send answers a request, if it has no answer yet and there is somebody to hear it. */
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

/** refuse answers with a problem instead of a review. A body that was not read to its end is drained, so that the answer arrives, but not for ever. */
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
