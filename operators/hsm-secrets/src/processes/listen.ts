import type { Server } from 'node:net';
import { BowlineError } from '@bowline/machinery';

/** LISTEN_ADDRESS is the pattern of an address to listen on. */
export const LISTEN_ADDRESS = '^(\\[[0-9a-fA-F:.]+\\]|[^:\\[\\]]*):[0-9]{1,5}$';

/** ListenOptions is where a server listens. */
export interface ListenOptions {
  /** `host:port`, or `:port` for all addresses. Port 0 is any free port. */
  readonly address: string;
  /** The flag that sets the address, for errors. */
  readonly flag: string;
}

/** listen resolves when a server listens on `host:port` or `:port`; rejects with BOWLINE_ADDRESS_* if it cannot. */
export async function listen(server: Server, { address, flag }: ListenOptions): Promise<void> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  if (!new RegExp(LISTEN_ADDRESS).test(address) || port > 65_535)
    throw new BowlineError(
      'BOWLINE_ADDRESS_INVALID',
      `cannot listen on ${JSON.stringify(address)}: set ${flag} to host:port or :port`,
    );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const code = cause.code === 'EADDRINUSE' ? 'BOWLINE_ADDRESS_IN_USE' : 'BOWLINE_ADDRESS_UNAVAILABLE';
      const problem = `cannot listen on ${address} (${cause.code}); choose another address with ${flag}`;
      reject(new BowlineError(code, problem, { cause }));
    });
    server.listen({ port, ...(host ? { host } : {}) }, resolve);
  });
}
