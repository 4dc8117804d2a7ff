import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Balancer simulates a Service: it forwards every new connection to the next replica. It does not inspect TLS. */
export class Balancer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #targets: readonly number[] = [];
  #next = 0;
  connections = 0;

  private constructor() {
    this.#server = createServer((socket) => this.#pass(socket));
  }

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    await new Promise<void>((resolve, reject) => {
      balancer.#server.once('error', reject);
      balancer.#server.listen(0, '127.0.0.1', resolve);
    });
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** use sets the ports for new connections; open connections stay where they are. */
  use(ports: readonly number[]): void {
    this.#targets = ports;
  }

  #pass(socket: Socket): void {
    const port = this.#targets[this.#next++ % Math.max(1, this.#targets.length)];
    if (port === undefined) {
      socket.destroy();
      return;
    }
    this.connections++;
    const target = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [socket, target],
      [target, socket],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroySoon();
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
