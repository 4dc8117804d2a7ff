import type { ObjectKey } from '@bowline/kubernetes';
import { type Clock, systemClock } from '@bowline/machinery';
import type { Client, TokenRequestOptions } from './client.ts';

/** ServiceAccountTokenOptions configures the tokens of a ServiceAccount. */
export interface ServiceAccountTokenOptions extends TokenRequestOptions {
  /** Defaults to the system clock. */
  readonly wire?: Clock | undefined;
}

/** As for the tokens that the kubelet mounts. */
const RENEWED_AFTER = 0.8;

/**
 * serviceAccountToken returns a source of tokens of a ServiceAccount, for `Client.withToken`. It requests a token when
 * one is first needed, and the next one after four fifths of the lifetime. If that fails, the current token is used
 * until it expires.
 *
 * @example
 * await using reader = client.withToken(serviceAccountToken(client, { namespace: 'default', name: 'reader' }));
 */
export function serviceAccountToken(
  client: Pick<Client, 'requestToken'>,
  account: ObjectKey,
  { wire = systemClock, ...options }: ServiceAccountTokenOptions = {},
): () => string | Promise<string> {
  let current: { readonly token: string; readonly renewAt: number; readonly expiresAt: number } | undefined;
  let requesting: Promise<string> | undefined;
  const request = async (): Promise<string> => {
    const now = wire.now();
    try {
      const { token, expirationTimestamp } = await client.requestToken(account, options);
      const expiresAt = Date.parse(expirationTimestamp);
      current = { token, expiresAt, renewAt: now + (expiresAt - now) * RENEWED_AFTER };
    } catch (error) {
      if (current === undefined || current.expiresAt <= wire.now()) throw error;
    }
    return current.token;
  };
  return () => {
    if (current !== undefined && wire.now() < current.renewAt) return current.token;
    requesting ??= request().finally(() => {
      requesting = undefined;
    });
    return requesting;
  };
}
