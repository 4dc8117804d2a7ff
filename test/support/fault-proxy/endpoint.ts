import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Relay } from './relay.ts';

/** The maximum number of connections of one endpoint. */
const MAX_CONNECTIONS = 256;

/** Endpoint is a client's own entry to the proxy, so that one client can be disconnected while the others continue. */
export class Endpoint implements AsyncDisposable {
  readonly name: string;
  readonly #innerPort: number;
  readonly #relays = new Set<Relay>();
  #server: Server;
  #port = 0;
  #partitioned = false;
  #up = false;

  private constructor(name: string, innerPort: number) {
    this.name = name;
    this.#innerPort = innerPort;
    this.#server = this.#newServer();
  }

  /** open listens on a free loopback port. */
  static async open(name: string, innerPort: number): Promise<Endpoint> {
    const endpoint = new Endpoint(name, innerPort);
    await endpoint.up();
    return endpoint;
  }

  /** The port that the client connects to; it stays the same across restarts. */
  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#relays.size;
  }

  /** relayOf returns the connection with the given remote port on the inner server. */
  relayOf(innerRemotePort: number | undefined): Relay | undefined {
    return [...this.#relays].find((relay) => relay.innerPort === innerRemotePort);
  }

  /** partition blocks all bytes in both directions and accepts new connections without forwarding them; it closes none. */
  partition(): void {
    this.#partitioned = true;
    for (const relay of this.#relays) relay.hold({ toServer: true, toClient: true });
  }

  /** heal ends a partition: held bytes are delivered, like TCP retransmissions. */
  heal(): void {
    this.#partitioned = false;
    for (const relay of this.#relays) {
      relay.start();
      relay.hold({ toServer: false, toClient: false });
    }
  }

  /** reset closes every open connection with a RST. */
  reset(): void {
    for (const relay of this.#relays) relay.reset();
  }

  /** down resets every connection and refuses new ones. */
  async down(): Promise<void> {
    if (!this.#up) return;
    this.#up = false;
    this.#server.close();
    const closed = [once(this.#server, 'close'), ...[...this.#relays].map((relay) => relay.closed)];
    this.reset();
    await Promise.all(closed);
  }

  /** up accepts connections again, on the same port. */
  async up(): Promise<void> {
    if (this.#up) return;
    this.#up = true;
    this.#server = this.#newServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }

  #newServer(): Server {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      const relay = new Relay(socket, this.#innerPort);
      this.#relays.add(relay);
      void relay.closed.then(() => this.#relays.delete(relay));
      if (!this.#partitioned) relay.start();
    });
    server.maxConnections = MAX_CONNECTIONS;
    return server;
  }
}
