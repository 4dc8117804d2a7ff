import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** LoopbackServer is a server on a free port of 127.0.0.1. Disposing of it ends its connections. */
export interface LoopbackServer extends AsyncDisposable {
  readonly port: number;
}

/** Answer responds to a request whose body was read. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;

/** startLoopbackServer serves HTTP, or HTTPS with a certificate. An answer that fails closes the connection. */
export async function startLoopbackServer(
  answer: Answer,
  certificate?: { readonly cert: string; readonly key: string },
): Promise<LoopbackServer> {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    await answer(request, response, Buffer.concat(chunks));
  };
  const server = certificate ? createHttpsServer(certificate) : createHttpServer();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    respond(request, response).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
