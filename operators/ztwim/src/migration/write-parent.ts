import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { MigrationContext } from './migration-context.ts';
import { type MigrationRecord, writeRecord } from './migration-record.ts';
import type { MigratedValues } from './plan-migration.ts';

/**
 * writeParent writes migrated values and the record of the migration in one request. `values` are all of them, also those
 * of earlier migrations: a value that is missing is removed, unless the user has set it too. It fails with a conflict if
 * the object was changed since it was read, so that no value of a user is overwritten.
 */
export function writeParent(
  { live }: Pick<MigrationContext, 'live'>,
  { metadata }: ZeroTrustWorkloadIdentityManager,
  values: MigratedValues,
  record: MigrationRecord,
): Promise<ZeroTrustWorkloadIdentityManager> {
  const { uid, resourceVersion } = metadata ?? {};
  const annotations = { [ANNOTATIONS.migrated]: writeRecord(record) };
  const hasValues = Object.keys(values).length > 0;
  const body = {
    metadata: { name: SINGLETON, uid, resourceVersion, annotations },
    ...(hasValues ? { spec: values } : {}),
  };
  return live.patch(ZeroTrustWorkloadIdentityManager, { name: SINGLETON }, { type: 'apply', force: true, body });
}

/** valuesIn returns the migrated values that an object has in fields. */
export function valuesIn(
  { spec }: Pick<ZeroTrustWorkloadIdentityManager, 'spec'>,
  fields: MigrationRecord['fields'],
): MigratedValues {
  return Object.fromEntries(fields.flatMap((field) => (spec[field] === undefined ? [] : [[field, spec[field]]])));
}
