import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendJson } from './send-json.ts';

async function responseOf(listener: RequestListener): Promise<Response> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

it('sends a JSON value that is neither cached nor interpreted as another type', async () => {
  const response = await responseOf((_, given) => sendJson(given, 429, { message: 'später' }, { 'retry-after': '7' }));
  expect(response.status).toBe(429);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json',
    'content-length': '22',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'retry-after': '7',
  });
  expect(await response.text()).toBe('{"message":"später"}\n');
});

it('leaves the first response to a request unchanged', async () => {
  const response = await responseOf((_, given) => {
    sendJson(given, 200, { order: 1 });
    sendJson(given, 500, { order: 2 });
  });
  expect([response.status, await response.json()]).toEqual([200, { order: 1 }]);
});
