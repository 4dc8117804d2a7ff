import { BowlineError } from '../errors/bowline-error.ts';

/** ListenAddress is where a server listens; without a host on every interface. */
export interface ListenAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/**
 * parseListenAddress reads `host:port`, `:port`, `[::1]:port` or `port`; `0` (as controller-runtime has it) and the
 * empty string mean no server and give undefined. Port 0 behind a host or colon means any free port.
 */
export function parseListenAddress(text: string, option: string): ListenAddress | undefined {
  if (text === '' || text === '0') return undefined;
  const match = /^(?:(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<host>[^:[\]]*)):)?(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.port);
  if (!match || port > 65_535) {
    throw new BowlineError(
      'BOWLINE_ADDRESS_INVALID',
      `cannot listen on ${JSON.stringify(text)}: give ${option} as host:port, :port, or 0 for none`,
    );
  }
  return { host: match.groups?.v6 ?? (match.groups?.host || undefined), port };
}

/** listenError says what to change when an address cannot be bound. */
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
