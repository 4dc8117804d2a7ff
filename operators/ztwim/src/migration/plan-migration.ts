import { ANNOTATIONS } from '../api/names.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { copiesOf, copyIn } from '../resolve/copies.ts';
import { conflictsIn } from '../resolve/hold.ts';
import { resolve } from '../resolve/resolve.ts';
import { type Conflict, FIELD_OWNERS, type SharedField, type SharingKind } from '../resolve/shared-config.ts';

const PARENT = 'ZeroTrustWorkloadIdentityManager';

/** MIGRATED_FIELDS are the shared values whose copies in operands are deprecated. */
export const MIGRATED_FIELDS = ['trustDomain', 'clusterName', 'bundleConfigMap'] as const satisfies SharedField[];

/** MigratedField is the name of a value that a migration moves. */
export type MigratedField = (typeof MIGRATED_FIELDS)[number];

/** MigratedValues are the values that a migration moves. */
export type MigratedValues = { readonly [F in MigratedField]?: string };

/** PlannedWrite is one change of the five objects. */
export interface PlannedWrite {
  readonly field: MigratedField;
  /** The kind of the operand that has the value. */
  readonly source: SharingKind;
  readonly value: string;
  /** What is written. */
  readonly write: string;
}

/** MigrationPlan is what a migration would do. */
export interface MigrationPlan {
  /** Whether operands have values that the ZeroTrustWorkloadIdentityManager lacks. */
  readonly isNeeded: boolean;
  /** Values that contradict each other. With any of them, nothing is migrated. */
  readonly conflicts: readonly Conflict[];
  /** The values that the ZeroTrustWorkloadIdentityManager gets. */
  readonly values: MigratedValues;
  readonly writes: readonly PlannedWrite[];
}

/**
 * planMigration returns what a migration would do with the five objects. Without a ZeroTrustWorkloadIdentityManager, it
 * is the plan for an empty one.
 */
export function planMigration({ parent, operands }: SharedObjects): MigrationPlan {
  const shared = resolve(parent, operands);
  const legacy = MIGRATED_FIELDS.filter((field) => {
    const result = shared.fields[field];
    if (result.state === 'resolved') return result.source === 'Operand';
    return result.state === 'conflict' && result.conflicts.some(({ wantedBy }) => wantedBy !== PARENT);
  });
  const conflicts = legacy.length === 0 ? [] : conflictsIn(shared);
  const values: { [F in MigratedField]?: string } = {};
  const writes: PlannedWrite[] = [];
  for (const field of conflicts.length === 0 ? legacy : []) {
    const [first] = copiesOf(field, operands, FIELD_OWNERS[field]);
    if (!first) continue;
    const { kind: source, value } = first;
    values[field] = value;
    const all = [`set ${PARENT}.spec.${field}`, ...operandWrites(field, operands)];
    writes.push(...all.map((write) => ({ field, source, value, write })));
  }
  return { isNeeded: legacy.length > 0, conflicts, values, writes };
}

function operandWrites(field: MigratedField, operands: SharedObjects['operands']): readonly string[] {
  return FIELD_OWNERS[field].flatMap((kind) => {
    const operand = operands[kind];
    const { deletionTimestamp, annotations } = operand?.metadata ?? {};
    const hasOptedOut = annotations?.[ANNOTATIONS.inheritIntoSpec] === 'false';
    if (!operand || deletionTimestamp !== undefined || hasOptedOut) return [];
    const path = `${kind}.spec.${field}`;
    return [copyIn(operand, field) === undefined ? `set ${path}` : `mark ${path} as inherited`];
  });
}
