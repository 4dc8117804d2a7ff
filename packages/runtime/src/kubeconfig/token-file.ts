import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import type { Credentials, RejectedCredentials, RequestHeaders } from '../transport/connection-config.ts';

/** TokenFileOptions configures a token file that is rotated. */
export interface TokenFileOptions {
  readonly path: string;
  /** The origin of the file for messages, such as `tokenFile of user "x" in /path`. */
  readonly source: string;
  /** The token to send while the file cannot be read. Defaults to none. */
  readonly fallback?: string | undefined;
  /** Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
}

/**
 * The kubelet renews a bound token at 80 % of its lifetime, which is at least ten minutes; reading it a minute late is
 * early enough.
 */
const REREAD_AFTER_MS = 60_000;

/**
 * tokenFileCredentials returns credentials with the token in a file. The file is read again at most once a minute, and
 * immediately after a 401.
 */
export function tokenFileCredentials(options: TokenFileOptions): Credentials {
  const wire = options.wire ?? systemClock;
  const log = options.log ?? silentLog;
  let current: RequestHeaders | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<RequestHeaders> | undefined;

  const read = async (): Promise<RequestHeaders> => {
    try {
      const token = (await readFile(options.path, 'utf8')).trim();
      if (token === '') throw new Error('the file is empty');
      const authorization = `Bearer ${token}`;
      if (current?.authorization !== authorization) current = { authorization };
    } catch (cause) {
      if (current === undefined && options.fallback !== undefined) {
        current = { authorization: `Bearer ${options.fallback}` };
      }
      if (current === undefined) {
        throw new BowlineError(
          'BOWLINE_CREDENTIALS_FILE',
          `cannot read a token from ${options.path} (${options.source}): check that the file exists, is readable and not empty`,
          { cause, retryable: true },
        );
      }
      log.warn('cannot read the token file again, using the last token', { path: options.path });
    }
    readAt = wire.monotonic();
    return current;
  };
  const reread = (): Promise<RequestHeaders> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    headers: () => (current !== undefined && wire.monotonic() - readAt < REREAD_AFTER_MS ? current : reread()),
    refresh: async (rejected: RejectedCredentials) => {
      const used = rejected.headers.authorization;
      if (current !== undefined && current.authorization !== used) return true;
      return (await reread()).authorization !== used;
    },
  };
}
