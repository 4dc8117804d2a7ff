import { describe, expect, it } from 'vitest';
import { sampleServer } from '../testing/sample-inputs.test-support.ts';
import { containsPassword } from './connection-password.ts';

type Type = 'sqlite3' | 'postgres' | 'mysql' | 'aws_postgres' | 'aws_mysql';

const contains = (databaseType: Type, connectionString: string): boolean => {
  const aws = databaseType.startsWith('aws_') ? { aws: { region: 'eu-central-1' } } : {};
  return containsPassword(
    sampleServer({ spec: { datastore: { databaseType, connectionString, ...aws } } }).spec.datastore,
  );
};

const REFERENCE = '$' + '{SPIRE_DB_PASSWORD}';

describe('containsPassword', () => {
  it.each<[Type, string]>([
    ['postgres', 'postgresql://spire:canary@db:5432/spire?sslmode=require'],
    ['postgres', 'postgres://:canary@db/spire'],
    ['postgres', 'postgres://db/spire?user=spire&password=canary'],
    ['postgres', 'dbname=spire user=spire password=canary host=db'],
    ['postgres', "dbname=spire PASSWORD = 'canary with spaces'"],
    ['postgres', 'password=canary'],
    ['mysql', 'spire:canary@tcp(db:3306)/spire?parseTime=true'],
    ['mysql', 'spire:c@n/ry@tcp(db:3306)/spire'],
    ['mysql', 'spire:canary@/spire'],
    ['aws_mysql', 'spire:canary@/spire'],
    ['aws_postgres', 'user=spire password=canary'],
    ['mysql', `spire:canary${REFERENCE}@tcp(db)/spire`],
  ])('finds the password in the %s string %s', (type, text) => {
    expect(contains(type, text)).toBe(true);
  });

  it.each<[Type, string]>([
    ['sqlite3', '/run/spire/data/datastore.sqlite3'],
    ['sqlite3', 'file:a@/b?password=x'],
    ['postgres', 'postgresql://spire@db:5432/spire?options=a@b'],
    ['postgres', 'postgresql://db:5432/spire'],
    ['postgres', `postgresql://spire:${REFERENCE}@db/spire`],
    ['postgres', `dbname=spire password=${REFERENCE} host=db`],
    ['postgres', "dbname=spire password='$SPIRE_DB_PASSWORD'"],
    ['postgres', 'dbname=spire passfile=/run/secrets/pgpass'],
    ['mysql', `spire:${REFERENCE}@tcp(db:3306)/spire`],
    ['mysql', 'spire@tcp(db:3306)/spire'],
    ['mysql', 'tcp(db:3306)/spire'],
    ['aws_mysql', 'spire:@tcp(db:3306)/spire?parseTime=true&allowCleartextPasswords=1&tls=true'],
  ])('finds none in the %s string %s', (type, text) => {
    expect(contains(type, text)).toBe(false);
  });
});
