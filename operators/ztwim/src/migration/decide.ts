import { ANNOTATIONS } from '../api/names.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { readRecord } from './migration-record.ts';
import type { MigrationPlan } from './plan-migration.ts';

/** CONTROLS are the values of the annotation with which a user controls the migration. Without it, it is automatic. */
export const CONTROLS = ['plan', 'run', 'rollback', 'disabled'] as const;

/** Control is a value of the annotation. */
export type Control = (typeof CONTROLS)[number];

/**
 * Decision is what a run does about the migration:
 * - `nothing`: operands have no values that the ZeroTrustWorkloadIdentityManager lacks;
 * - `plan`, `conflict`, `disabled`: they have, but must not be migrated;
 * - `apply`: they are migrated;
 * - `finish`: their values were moved, and it is checked that the operands follow;
 * - `roll-back`: the migration is undone;
 * - `rolled-back`: it was undone, or must not begin;
 * - `invalid`: the annotation has an unknown value.
 */
export type Decision =
  | 'nothing'
  | 'plan'
  | 'conflict'
  | 'disabled'
  | 'apply'
  | 'finish'
  | 'roll-back'
  | 'rolled-back'
  | 'invalid';

/** decide returns what a run does. It follows from the objects alone, so that an interrupted migration continues. */
export function decide({ parent }: Pick<SharedObjects, 'parent'>, plan: MigrationPlan): Decision {
  const control = parent?.metadata?.annotations?.[ANNOTATIONS.migration];
  if (control !== undefined && !isControl(control)) return 'invalid';
  const record = parent && readRecord(parent);
  if (control === 'rollback') return record && !record.isRolledBack ? 'roll-back' : 'rolled-back';
  // The automatic migration must not undo a rollback.
  if (record?.isRolledBack && control !== 'run') return 'rolled-back';
  if (!plan.isNeeded) return record && !record.isRolledBack ? 'finish' : 'nothing';
  if (control === 'disabled') return 'disabled';
  if (plan.conflicts.length > 0) return 'conflict';
  return control === 'plan' ? 'plan' : 'apply';
}

function isControl(text: string): text is Control {
  return CONTROLS.some((control) => control === text);
}
