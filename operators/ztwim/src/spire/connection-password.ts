import type { SpireServer } from '../api/spire-server.ts';

type Datastore = SpireServer['spec']['datastore'];

const URL_PASSWORD = /^\w+:\/\/[^\s:@/?]*:(?<password>[^\s@/?]+)@/;
const DSN_PASSWORD = /^[^\s:@/]*:(?<password>.+)@\w*[(/]/;
const PARAMETER_PASSWORD = /(?:^|[\s?&])password\s*=\s*'?(?<password>[^\s'&]+)/i;

/** What is replaced with the password from a Secret. */
const REFERENCE = /^\$(?:\{SPIRE_DB_PASSWORD\}|SPIRE_DB_PASSWORD)$/;

const PATTERNS: Readonly<Record<Datastore['databaseType'], readonly RegExp[]>> = {
  sqlite3: [],
  postgres: [URL_PASSWORD, PARAMETER_PASSWORD],
  mysql: [DSN_PASSWORD],
  aws_postgres: [URL_PASSWORD, PARAMETER_PASSWORD],
  aws_mysql: [DSN_PASSWORD],
};

/** containsPassword returns whether a connection string contains a password, and not only a reference to one. */
export function containsPassword({ databaseType, connectionString }: Datastore): boolean {
  return PATTERNS[databaseType].some((pattern) => {
    const password = pattern.exec(connectionString)?.groups?.password;
    return password !== undefined && !REFERENCE.test(password);
  });
}
