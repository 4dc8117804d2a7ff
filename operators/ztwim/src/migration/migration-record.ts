import type { KubernetesObject } from '@bowline/kubernetes';
import { ANNOTATIONS } from '../api/names.ts';
import { MIGRATED_FIELDS, type MigratedField } from './plan-migration.ts';

/**
 * MigrationRecord is what the annotation of a ZeroTrustWorkloadIdentityManager records about its migration. It is written
 * in the same request as the values, so that it is there if and only if they are.
 */
export interface MigrationRecord {
  /** The name of the ConfigMap with the specs before the migration. */
  readonly backup: string;
  /** The fields of the ZeroTrustWorkloadIdentityManager that a migration set. */
  readonly fields: readonly MigratedField[];
  /** Whether the migration was rolled back. */
  readonly isRolledBack: boolean;
}

/** readRecord parses the annotation. One that is not valid counts as absent: it is only lost if someone edits it. */
export function readRecord({ metadata }: KubernetesObject): MigrationRecord | undefined {
  const text = metadata?.annotations?.[ANNOTATIONS.migrated];
  if (text === undefined) return undefined;
  let parsed: { readonly backup?: unknown; readonly fields?: unknown; readonly rolledBack?: unknown } | null;
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    return undefined;
  }
  const { backup, fields, rolledBack } = parsed ?? {};
  if (typeof backup !== 'string' || backup === '') return undefined;
  const named: readonly unknown[] = Array.isArray(fields) ? fields : [];
  return {
    backup,
    fields: MIGRATED_FIELDS.filter((field) => named.includes(field)),
    isRolledBack: rolledBack === true,
  };
}

/** writeRecord returns the text of the annotation. */
export function writeRecord({ backup, fields, isRolledBack }: MigrationRecord): string {
  return JSON.stringify({ backup, fields, ...(isRolledBack ? { rolledBack: true } : {}) });
}
