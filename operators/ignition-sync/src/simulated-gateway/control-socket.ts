import { chmod, lstat, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { BowlineError, isObject, type JsonObject } from '@bowline/machinery';
import type { FaultChanges, GatewayFaults } from './gateway-faults.ts';

/** A thousand sessions of each kind fit. */
const MAX_LINE_LENGTH = 1024 * 1024;
const MAX_CONNECTIONS = 8;

/**
 * ControlSocket is a Unix socket that changes the faults of a simulated gateway. A client sends one JSON object in a line
 * and receives one: `{"faults": …}` with all faults, or `{"error": …}`.
 */
export class ControlSocket {
  readonly #path: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(path: string, change: (changes: JsonObject) => Promise<GatewayFaults>) {
    this.#path = path;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      // A client that is gone needs no response.
      socket.on('error', () => socket.destroy());
      void answer(socket, change);
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** listen creates the socket, for the user of the process only. */
  async listen(): Promise<void> {
    const existing = await lstat(this.#path).catch(() => undefined);
    // A process that was killed leaves its socket.
    if (existing?.isSocket()) await rm(this.#path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (cause: NodeJS.ErrnoException) => reject(unavailable(this.#path, cause.code)));
      this.#server.listen(this.#path, resolve);
    });
    await chmod(this.#path, 0o600);
  }

  /** close removes the socket. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
  }
}

/**
 * changeFaults changes the faults of a simulated gateway in another process, and returns all of them. It rejects with
 * BOWLINE_IGNITION_SIMULATION.
 *
 * @example
 * await changeFaults('/tmp/gateway.sock', { responses: [{ path: '**', status: 503 }] });
 */
export async function changeFaults(path: string, changes: FaultChanges): Promise<GatewayFaults> {
  const socket = connect(path);
  try {
    socket.write(`${JSON.stringify(changes)}\n`);
    const response: unknown = JSON.parse(await readLine(socket));
    if (isObject(response) && isObject(response.faults)) return response.faults as GatewayFaults;
    const problem = isObject(response) ? String(response.error) : 'the response is not from a simulated gateway';
    throw new BowlineError('BOWLINE_IGNITION_SIMULATION', problem);
  } catch (error) {
    if (error instanceof BowlineError) throw error;
    throw unavailable(path, error instanceof Error && 'code' in error ? String(error.code) : undefined);
  } finally {
    socket.destroy();
  }
}

async function answer(socket: Socket, change: (changes: JsonObject) => Promise<GatewayFaults>): Promise<void> {
  try {
    const changes: unknown = JSON.parse(await readLine(socket));
    if (!isObject(changes)) throw new Error('not an object');
    socket.end(`${JSON.stringify({ faults: await change(changes) })}\n`);
  } catch (error) {
    const message = error instanceof BowlineError ? error.message : 'the request must be a JSON object in one line';
    socket.end(`${JSON.stringify({ error: message })}\n`);
  }
}

async function readLine(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    text += chunk;
    if (text.includes('\n')) return text;
    if (text.length > MAX_LINE_LENGTH) break;
  }
  throw new Error('no complete line');
}

function unavailable(path: string, code: string | undefined): BowlineError {
  return new BowlineError(
    'BOWLINE_IGNITION_SIMULATION',
    `cannot use the control socket ${path} (${code ?? 'the connection was closed'}); check that the simulated gateway runs, and choose a path of at most 100 characters`,
  );
}
