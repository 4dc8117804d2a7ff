import { ANNOTATIONS } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { copyIn, inheritedAnnotation, inheritedValues, type Operand, parentValues } from '../resolve/copies.ts';
import { resolvedValue } from '../resolve/hold.ts';
import { resolve } from '../resolve/resolve.ts';
import { SHARED_FIELDS, type SharedConfig, type SharingKind } from '../resolve/shared-config.ts';
import type { Backup, SavedObject } from './backup.ts';
import type { MigrationRecord } from './migration-record.ts';
import type { MigratedField } from './plan-migration.ts';

/** SHARING_KINDS are the kinds that a migration changes, besides the ZeroTrustWorkloadIdentityManager. */
export const SHARING_KINDS: readonly SharingKind[] = ['SpireServer', 'SpireAgent', 'SpireOIDCDiscoveryProvider'];

/** Restored is an object as the rollback leaves it. */
export interface Restored<T> {
  readonly object: T;
  /** Whether it already is in this state. */
  readonly isDone: boolean;
}

/** RollbackPlan is what a rollback does. */
export interface RollbackPlan {
  /** The fields that the migration has set, and that are removed from the ZeroTrustWorkloadIdentityManager. */
  readonly undone: readonly MigratedField[];
  readonly parent: Restored<ZeroTrustWorkloadIdentityManager>;
  /** The operands that have the same uid as in the backup. */
  readonly operands: { readonly [K in SharingKind]?: Restored<Operand> };
  /** The values that all operands share afterwards. */
  readonly shared: SharedConfig;
  /** The kinds that were deleted or created again since the migration, and stay as they are. */
  readonly skipped: readonly (OperandKind | 'ZeroTrustWorkloadIdentityManager')[];
  /** Why nothing may be changed; undefined if it may. */
  readonly refusal: string | undefined;
}

/**
 * planRollback returns how the objects get back the specs that they had. Only the fields that the migration has changed are
 * restored, so that other edits since then are kept. The values in use stay the same.
 */
export function planRollback(
  { parent, operands }: SharedObjects & { readonly parent: ZeroTrustWorkloadIdentityManager },
  backup: Backup,
  record: MigrationRecord,
): RollbackPlan {
  const savedParent = savedFor(parent, backup.ZeroTrustWorkloadIdentityManager);
  const before = savedParent && parentValues(savedParent);
  const undone = before ? record.fields.filter((field) => before[field] === undefined) : [];
  const restoredParent = restoreParent(parent, undone);
  const restored: { [K in SharingKind]?: Restored<Operand> } = {};
  for (const kind of SHARING_KINDS) {
    const operand = operands[kind];
    const saved = operand && savedFor(operand, backup[kind]);
    if (saved) restored[kind] = restoreOperand(operand, saved, undone);
  }
  const shared = resolve(restoredParent.object, {
    ...operands,
    ...Object.fromEntries(Object.entries(restored).map(([kind, { object }]) => [kind, object])),
  });
  const skipped = [
    ...(savedParent ? [] : (['ZeroTrustWorkloadIdentityManager'] as const)),
    ...SHARING_KINDS.filter((kind) => backup[kind] && !restored[kind]),
  ];
  const refusal = changeOf(resolve(parent, operands), shared);
  return { undone, parent: restoredParent, operands: restored, shared, skipped, refusal };
}

/** An object that was deleted and created again is another one. One that is being deleted is not changed any more. */
function savedFor({ metadata }: Operand, saved: SavedObject | undefined): SavedObject | undefined {
  return metadata?.deletionTimestamp === undefined && saved?.uid === metadata?.uid ? saved : undefined;
}

function restoreParent(
  parent: ZeroTrustWorkloadIdentityManager,
  undone: readonly MigratedField[],
): Restored<ZeroTrustWorkloadIdentityManager> {
  const spec = { ...parent.spec };
  for (const field of undone) {
    spec[field] = undefined;
    // The user may have chosen the other way to name the bundle since then.
    if (field === 'bundleConfigMap') spec.bundleConfig = undefined;
  }
  const current = parentValues(parent);
  return { object: { ...parent, spec }, isDone: undone.every((field) => current[field] === undefined) };
}

function restoreOperand(operand: Operand, { spec }: SavedObject, undone: readonly MigratedField[]): Restored<Operand> {
  const inherited = inheritedValues(operand);
  const without = Object.fromEntries(undone.map((field) => [field, undefined]));
  const annotation = inheritedAnnotation({ ...inherited, ...without });
  const annotations = {
    ...operand.metadata?.annotations,
    [ANNOTATIONS.inherited]: annotation === '{}' ? undefined : annotation,
  };
  const values = Object.fromEntries(undone.map((field) => [field, spec[field]]));
  const metadata = { ...operand.metadata, annotations } as NonNullable<Operand['metadata']>;
  const object = { ...operand, metadata, spec: { ...operand.spec, ...values } };
  return { object, isDone: isRestored(operand, object, undone) };
}

/** isRestored reports whether a stored operand has the fields of a restored one, as its own values. */
export function isRestored(stored: Operand, restored: Operand, undone: readonly MigratedField[]): boolean {
  const inherited = inheritedValues(stored);
  return undone.every((field) => copyIn(stored, field) === copyIn(restored, field) && inherited[field] === undefined);
}

/** A rollback changes where values are stored, never the values: other values would replace identities in use. */
function changeOf(before: SharedConfig, after: SharedConfig): string | undefined {
  const show = (value: string | undefined) => (value === undefined ? 'no single value' : `"${value}"`);
  const changes = SHARED_FIELDS.flatMap((field) => {
    const from = resolvedValue(before, field);
    const to = resolvedValue(after, field);
    return from === to ? [] : [`${field} would change from ${show(from)} to ${show(to)}`];
  });
  if (changes.length === 0) return undefined;
  return `a rollback must not change the values in use, which are not those of the migration any more: ${changes.join(', ')}; set the earlier values first, or edit the specs yourself`;
}
