import type { Identity, IdentityHistory } from './identity-history.ts';

/** DATA_DIR is the folder of the persistent volume in the pods of the server. */
export const DATA_DIR = '/run/spire/data';

const KEYS_PATH = `${DATA_DIR}/keys.json`;

/**
 * SPIRE does not start with the data of another trust domain. So each trust domain but the first has its own files; the
 * others stay, and changing back restores the old CA and its entries.
 */
function pathFor(path: string, { trustDomain }: Pick<Identity, 'trustDomain'>, history: IdentityHistory): string {
  if (trustDomain === history.trustDomain.first) return path;
  // Connection strings of SQLite may have options after a question mark.
  const [, file = path, extension = '', options = ''] = /^([^?]*?)(\.[^./?]*)?(\?.*)?$/s.exec(path) ?? [];
  return `${file}-${trustDomain}${extension}${options}`;
}

/** databasePath returns the file of a SQLite database for a trust domain. A database in memory has none. */
export function databasePath(
  connectionString: string,
  identity: Pick<Identity, 'trustDomain'>,
  history: IdentityHistory,
): string {
  if (/:memory:|[?&]mode=memory(&|$)/.test(connectionString)) return connectionString;
  return pathFor(connectionString, identity, history);
}

/** keysPath returns the file of the private keys for a trust domain. */
export function keysPath(identity: Pick<Identity, 'trustDomain'>, history: IdentityHistory): string {
  return pathFor(KEYS_PATH, identity, history);
}
