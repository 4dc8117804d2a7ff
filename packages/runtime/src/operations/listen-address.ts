import { BowlineError } from '../errors/bowline-error.ts';

/** ListenAddress is the address of a server; without a host it listens on every interface. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * parseListenAddress parses `host:port`, `:port`, `[::1]:port` or `port`. `0` (as in controller-runtime) and the empty
 * string disable the server and return undefined. Port 0 after a host or colon means any free port.
 */
export function parseListenAddress(text: string, option: string): ListenAddress | undefined {
  if (text === '' || text === '0') return undefined;
  const match = /^(?:(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<host>[^:[\]]*)):)?(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.port);
  if (!match || port > 65_535) {
    throw new BowlineError(
      'BOWLINE_ADDRESS_INVALID',
      `cannot listen on ${JSON.stringify(text)}: set ${option} to host:port, :port, or 0 for none`,
    );
  }
  return { host: match.groups?.v6 ?? (match.groups?.host || undefined), port };
}

/** listenError returns the error for an address that cannot be bound, with the option to change. */
export function listenError(text: string, option: string, cause: unknown): BowlineError {
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (code === 'EADDRINUSE') {
    return new BowlineError(
      'BOWLINE_ADDRESS_IN_USE',
      `cannot listen on ${text}: the address is in use; choose another with ${option}`,
      { cause },
    );
  }
  return new BowlineError(
    'BOWLINE_ADDRESS_UNAVAILABLE',
    `cannot listen on ${text} (${String(code ?? cause)}): choose another with ${option}`,
    { cause },
  );
}
