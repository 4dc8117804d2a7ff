import { connect, type Socket } from 'node:net';

/**
 * Relay carries the bytes of one TCP connection. Holding it simulates a dead peer, a partition or a stalled reader: both sockets
 * stay open but nothing is transferred.
 */
export class Relay {
  /** The remote port of this connection on the inner server; undefined until it is connected. */
  get innerPort(): number | undefined {
    return this.#server?.localPort;
  }

  readonly #client: Socket;
  readonly #innerPort: number;
  /** Resolves when the client's socket is closed. */
  readonly closed: Promise<void>;
  #server: Socket | undefined;
  #holdToServer = false;
  #holdToClient = false;
  #passed = 0;

  constructor(client: Socket, innerPort: number) {
    this.#client = client;
    this.#innerPort = innerPort;
    client.setNoDelay(true);
    client.pause();
    client.on('error', () => {});
    this.closed = new Promise((resolve) => {
      client.once('close', () => {
        this.#server?.destroy();
        resolve();
      });
    });
  }

  /** start connects to the inner server; a relay that is never started is a connection without a peer. */
  start(): void {
    if (this.#server || this.#client.destroyed) return;
    const server = connect({ port: this.#innerPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#server = server;
    server.on('error', () => {});
    server.on('close', () => {
      // Half open means that the client does not notice.
      if (!this.#holdToClient) this.#client.destroy();
    });
    this.#pump(this.#client, server, () => this.#holdToServer);
    this.#pump(server, this.#client, () => this.#holdToClient);
  }

  /** hold blocks the given directions until it is called again. */
  hold(directions: { readonly toServer: boolean; readonly toClient: boolean }): void {
    this.#holdToServer = directions.toServer;
    this.#holdToClient = directions.toClient;
    if (!this.#server) return;
    if (this.#server.destroyed && !this.#holdToClient) this.#client.destroy();
    flow(this.#client, this.#server, this.#holdToServer);
    flow(this.#server, this.#client, this.#holdToClient);
  }

  /** quiet resolves when everything the server has written so far has had time to pass: a few turns without a byte. */
  async quiet(): Promise<void> {
    for (let still = 0, seen = this.#passed; still < 10; still = seen === this.#passed ? still + 1 : 0) {
      seen = this.#passed;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** reset closes the connection with a RST, like the kernel of a crashed peer. */
  reset(): void {
    // libuv refuses to reset a socket that is shutting down, and then never closes it.
    if (this.#client.writableEnded) this.#client.destroy();
    else this.#client.resetAndDestroy();
    this.#server?.destroy();
  }

  #pump(from: Socket, to: Socket, isHeld: () => boolean): void {
    from.on('data', (chunk) => {
      this.#passed += chunk.length;
      if (!to.destroyed && !to.write(chunk)) from.pause();
    });
    from.on('end', () => to.end());
    to.on('drain', () => flow(from, to, isHeld()));
    flow(from, to, isHeld());
  }
}

function flow(from: Socket, to: Socket, held: boolean): void {
  if (held || to.writableNeedDrain) from.pause();
  else from.resume();
}
