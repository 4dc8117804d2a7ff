import { forEachConcurrently } from '@bowline/machinery';
import { TokenError } from '../token/token-error.ts';
import type { TokenService } from '../token/token-service.ts';
import type { MirroringPolicy } from './primary.ts';

/** Devices are the devices that take part in mirroring, as `choosePrimary` returns them. */
export interface Devices {
  readonly policy: MirroringPolicy;
  /** The serial number of the primary device. */
  readonly primary: string | undefined;
  /** The serial numbers of all devices that should have the secrets. */
  readonly expected: readonly string[];
  /** The tokens of the devices that can be called, by serial number. */
  readonly tokens: ReadonlyMap<string, TokenService>;
}

/** targetsOf returns the devices that are read and written, in the order of their serial numbers. */
export function targetsOf({ policy, primary, expected }: Devices): readonly string[] {
  if (policy !== 'None') return [...expected].sort();
  return primary === undefined ? [] : [primary];
}

/** The maximum number of devices that are called at the same time. */
const MAX_CONCURRENT_DEVICES = 16;

/** Reply is the result of a call of one device. */
export type Reply<T> = { readonly value: T } | { readonly error: TokenError };

/**
 * askDevices calls the given devices at the same time and returns their replies by serial number. It rejects only with
 * the reason of the signal.
 */
export async function askDevices<T>(
  serials: readonly string[],
  { tokens }: Pick<Devices, 'tokens'>,
  call: (token: TokenService, serial: string) => Promise<T>,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Reply<T>>> {
  const replies = new Map<string, Reply<T>>();
  const ask = async (serial: string): Promise<void> => {
    replies.set(serial, await askDevice(serial, tokens.get(serial), call, signal));
  };
  const [failure] = await forEachConcurrently(serials, MAX_CONCURRENT_DEVICES, ask, { signal });
  if (failure) throw failure.error;
  return replies;
}

async function askDevice<T>(
  serial: string,
  token: TokenService | undefined,
  call: (token: TokenService, serial: string) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<Reply<T>> {
  if (!token) return { error: new TokenError('Unavailable', 'it has no agent that is ready') };
  try {
    return { value: await call(token, serial) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof TokenError) return { error };
    // The message of another error might quote a value.
    const name = error instanceof Error ? error.name : typeof error;
    return { error: new TokenError('Unavailable', `the call failed with an unexpected ${name}`) };
  }
}
