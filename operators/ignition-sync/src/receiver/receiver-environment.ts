import type { Config } from '../config.ts';
import { type SharedSecret, sharedSecret } from './shared-secret.ts';

/** ReceiverEnvironment holds the secrets of all IgnitionSyncs that the environment of the manager contains. */
export interface ReceiverEnvironment {
  readonly hmac: SharedSecret | undefined;
  readonly token: SharedSecret | undefined;
}

/** receiverEnvironment reads WEBHOOK_HMAC_SECRET and WEBHOOK_BEARER_TOKEN. An empty variable counts as missing. */
export function receiverEnvironment(variables: Readonly<Record<string, string | undefined>>): ReceiverEnvironment {
  return {
    hmac: sharedSecret(variables.WEBHOOK_HMAC_SECRET ?? ''),
    token: sharedSecret(variables.WEBHOOK_BEARER_TOKEN ?? ''),
  };
}

/**
 * hasGlobalSecret reports whether requests for every IgnitionSync must be authenticated, whether or not the Secret can
 * be read at the moment.
 */
export function hasGlobalSecret(
  { receiverSecret }: Pick<Config, 'receiverSecret'>,
  { hmac, token }: ReceiverEnvironment,
): boolean {
  return receiverSecret !== undefined || hmac !== undefined || token !== undefined;
}
