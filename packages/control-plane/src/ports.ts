import { createServer, type Server } from 'node:net';
import { BowlineError, integerBelow, type Random } from '@bowline/machinery';

/**
 * Ports are taken from below the range that systems use for outgoing connections (32768 on Linux, 49152 elsewhere): a
 * port that was free when it was chosen is not taken by another process's connection before the component listens on
 * it.
 */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
const ATTEMPTS = 100;

/** freePorts finds distinct ports on 127.0.0.1 that no process listens on. */
export async function freePorts(count: number, random: Random): Promise<readonly number[]> {
  const held: Server[] = [];
  const ports: number[] = [];
  try {
    for (let attempt = 0; attempt < ATTEMPTS && ports.length < count; attempt++) {
      const port = FIRST_PORT + integerBelow(random, PORTS);
      const server = await listen(port).catch(() => undefined);
      if (!server) continue;
      held.push(server);
      ports.push(port);
    }
  } finally {
    await Promise.all(held.map(close));
  }
  if (ports.length < count) {
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_PORT',
      `cannot find ${count} free ports on 127.0.0.1 between ${FIRST_PORT} and ${FIRST_PORT + PORTS}; stop the processes that listen there`,
    );
  }
  return ports;
}

/** requirePort checks that a chosen port can be listened on, and throws an error with the reason if not. */
export async function requirePort(port: number): Promise<void> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new BowlineError('BOWLINE_CONTROL_PLANE_PORT', `${port} is not a port; choose one from 1 to 65535`);
  }
  try {
    await close(await listen(port));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const why =
      code === 'EADDRINUSE'
        ? 'another process listens on it; stop that process or choose another port'
        : code === 'EACCES'
          ? 'permission denied; choose a port from 1024 to 65535'
          : `${cause instanceof Error ? cause.message : String(cause)}; choose another port`;
    throw new BowlineError('BOWLINE_CONTROL_PLANE_PORT', `cannot listen on 127.0.0.1:${port}: ${why}`, { cause });
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
