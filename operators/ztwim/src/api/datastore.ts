import { s } from '@bowline/runtime/resource';
import { flag } from './flag.ts';

/** SQLITE_PATH is the default connection string: a file on the persistent volume. */
export const SQLITE_PATH = '/run/spire/data/datastore.sqlite3';

const aws = s.object({
  region: s
    .string()
    .maxLength(63)
    .pattern('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')
    .describe('The region of the database, such as eu-central-1.'),
  credentialsSecretName: s
    .dnsSubdomain()
    .describe(
      'A Secret with the keys aws_access_key_id and aws_secret_access_key. Defaults to the credentials that the cluster gives to the pods.',
    )
    .optional(),
});

const fields = s.object({
  databaseType: s
    .enum(['sqlite3', 'postgres', 'mysql', 'aws_postgres', 'aws_mysql'])
    .default('sqlite3')
    .describe('The type of the database. The types of AWS authenticate with IAM in place of a password.'),
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
  aws: aws.describe('How to authenticate to a database of AWS.').optional(),
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

// The rules also apply to the default, an empty object, before the defaults of its fields are filled in.
const IS_AWS = "has(self.databaseType) && self.databaseType.startsWith('aws_')";

/** datastore is the schema of the database of a server. */
export const datastore = fields
  .rule(`has(self.aws) == (${IS_AWS})`, {
    message: 'aws belongs to the types aws_postgres and aws_mysql, which need it; set both, or remove aws',
    fieldPath: '.aws',
  })
  .rule(`!has(self.passwordSecretRef) || !(${IS_AWS})`, {
    message: 'a database of AWS is used with IAM, not with a password; remove passwordSecretRef',
    fieldPath: '.passwordSecretRef',
  });
