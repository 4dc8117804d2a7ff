import { s } from '@bowline/runtime/resource';
import { flag } from './flag.ts';

/** SQLITE_PATH is the default connection string: a file on the persistent volume. */
export const SQLITE_PATH = '/run/spire/data/datastore.sqlite3';

/** datastore is the schema of the database of a server. */
export const datastore = s.object({
  databaseType: s.enum(['sqlite3', 'postgres', 'mysql']).default('sqlite3').describe('The type of the database.'),
  connectionString: s
    .string()
    .minLength(1)
    .maxLength(2048)
    .default(SQLITE_PATH)
    .describe(
      'The file of sqlite3, or how to connect. With passwordSecretRef, $' +
        '{SPIRE_DB_PASSWORD} is the password, and $$ a dollar.',
    ),
  passwordSecretRef: s
    .object({ name: s.dnsSubdomain(), key: s.string().minLength(1).maxLength(253) })
    .describe('Where the password of the database is stored.')
    .optional(),
  tlsSecretName: s.dnsSubdomain().describe('A Secret with the certificates of the connection.').optional(),
  maxOpenConns: s.integer('int32').min(1).max(10_000).default(100).describe('The limit of open connections.'),
  maxIdleConns: s.integer('int32').min(0).max(10_000).default(2).describe('The limit of idle connections.'),
  connMaxLifetime: s.integer('int32').min(0).describe('The maximum age of a connection, in seconds.').optional(),
  disableMigration: flag().default('false').describe('Whether the server may not change the schema of the database.'),
  acceptTrustDomainChange: s
    .boolean()
    .default(false)
    .describe('Confirms that an external database was emptied, so that the trust domain may change.'),
});
