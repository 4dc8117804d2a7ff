import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** OpenSockets tracks the connections of a server, and which of them wait for no response. */
export class OpenSockets {
  readonly #all = new Set<Socket>();
  readonly #unused = new Set<Socket>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#all.add(socket);
      socket.once('close', () => this.#all.delete(socket));
    });
    server.on('secureConnection', (socket) => {
      this.#unused.add(socket);
      socket.once('close', () => this.#unused.delete(socket));
    });
    server.on('request', (request, response) => {
      const { socket } = request;
      this.#unused.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) this.#unused.add(socket);
      });
    });
  }

  closeUnused(): void {
    for (const socket of this.#unused) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#all) socket.destroy();
  }
}
