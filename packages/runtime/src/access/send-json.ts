import type { ServerResponse } from 'node:http';

/**
 * sendJson responds with a JSON value that no cache keeps and no browser interprets as anything else. It does nothing
 * if the request already has a response or its connection is closed.
 */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed || response.headersSent) return;
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
