import { Secret } from '@bowline/kubernetes';
import type { SpireServer } from '../api/spire-server.ts';
import { type ReferencedSecrets, referencedSecrets } from '../operand/referenced-secrets.ts';
import type { Problem } from '../operand/validity.ts';
import { containsPassword } from '../spire/connection-password.ts';
import type { IdentityHistory } from '../spire/identity-history.ts';
import { DATABASE_TLS_KEYS, isMysql } from '../spire/server-config.ts';
import type { ServerContext } from './controller.ts';
import { AWS_CREDENTIALS } from './server-input.ts';
import { upstreamSecrets } from './upstream.ts';

/**
 * secretsOf returns the state of the Secrets of the database and of the upstream authority. The server reads credentials and
 * certificates only when it starts.
 */
export function secretsOf({ object, get, deps }: ServerContext): ReferencedSecrets {
  const { passwordSecretRef, tlsSecretName, aws } = object.spec.datastore;
  const credentials = aws?.credentialsSecretName;
  const references = [
    ...(passwordSecretRef ? [{ ...passwordSecretRef, isVariable: true }] : []),
    ...(credentials === undefined ? [] : AWS_CREDENTIALS.map(({ key }) => ({ name: credentials, key }))),
    ...(tlsSecretName === undefined ? [] : [{ name: tlsSecretName }]),
    ...upstreamSecrets(object.spec),
  ];
  return referencedSecrets((key) => get(Secret, key), deps.config.operandNamespace, references);
}

/** tlsKeysOf returns the keys of the Secret with the certificates of the database; undefined if there is none. */
export function tlsKeysOf({ object, get, deps }: ServerContext): readonly string[] | undefined {
  const { tlsSecretName: name } = object.spec.datastore;
  return name === undefined ? undefined : get(Secret, { namespace: deps.config.operandNamespace, name })?.keys;
}

/**
 * databaseTlsProblem returns what is wrong with the certificates of the database. Without any of these files the server would
 * connect to MySQL without TLS.
 */
export function databaseTlsProblem(context: ServerContext): Problem | undefined {
  const { databaseType, tlsSecretName } = context.object.spec.datastore;
  const keys = tlsKeysOf(context);
  const { ca, certificate, key } = DATABASE_TLS_KEYS;
  const hasFiles = keys?.includes(ca) || (keys?.includes(certificate) && keys.includes(key));
  if (!isMysql(databaseType) || !keys || hasFiles) return undefined;
  const message = `the Secret ${tlsSecretName} has neither the key ${ca} nor the keys ${certificate} and ${key}; add them, or remove datastore.tlsSecretName`;
  return { reason: 'SecretMissing', message };
}

/**
 * datastoreProblem returns why the trust domain cannot change. SPIRE does not start with the data of another one, and the
 * operator cannot empty an external database.
 */
export function datastoreProblem(
  { spec }: SpireServer,
  known: IdentityHistory | undefined,
  trustDomain: string,
): Problem | undefined {
  const { databaseType, acceptTrustDomainChange } = spec.datastore;
  const isUnchanged = !known || known.trustDomain.current === trustDomain;
  if (databaseType === 'sqlite3' || acceptTrustDomainChange || isUnchanged) return undefined;
  return {
    reason: 'DatastoreHold',
    message: `the ${databaseType} database contains the data of the trust domain ${known.trustDomain.current}, with which SPIRE does not start in ${trustDomain}; empty it, and set datastore.acceptTrustDomainChange to true`,
  };
}

/** iamProblem returns why SPIRE would not start: a password must not replace the token that it gets from IAM. */
export function iamProblem({ spec: { datastore } }: SpireServer): Problem | undefined {
  if (!datastore.aws || !containsPassword(datastore)) return undefined;
  return {
    reason: 'InvalidConfiguration',
    message: `datastore.connectionString contains a password, which SPIRE does not accept with the type ${datastore.databaseType}; remove the password`,
  };
}

/** reportPlainTextPassword records an event if the connection string contains a password. */
export function reportPlainTextPassword({ object, event }: ServerContext): void {
  if (!containsPassword(object.spec.datastore)) return;
  event(
    'Warning',
    'PlainTextCredentials',
    'datastore.connectionString contains a password, which everyone who can read this object can read; store it in a Secret and set datastore.passwordSecretRef',
  );
}
