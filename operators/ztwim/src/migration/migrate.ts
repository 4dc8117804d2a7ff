import { BowlineError } from '@bowline/machinery';
import { ApiError, isConflict } from '@bowline/runtime/client';
import { ANNOTATIONS } from '../api/names.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { describeConflict } from '../resolve/hold.ts';
import { applyMigration } from './apply-migration.ts';
import { CONTROLS, decide } from './decide.ts';
import type { MigrationContext } from './migration-context.ts';
import { readRecord } from './migration-record.ts';
import type { MigrationState } from './migration-state.ts';
import { type MigrationPlan, planMigration } from './plan-migration.ts';
import { rollBack, rolledBack, rollingBack } from './roll-back.ts';

/**
 * migrate does the next steps of the migration, or of its rollback, and returns how far it is. A failure is part of the
 * result: what else the controller does must not depend on the migration.
 */
export async function migrate(context: MigrationContext, objects: SharedObjects): Promise<MigrationState> {
  const plan = planMigration(objects);
  let state = stateOf(context, objects, plan);
  try {
    switch (decide(objects, plan)) {
      case 'apply':
        return await applyMigration(context, (reached) => {
          state = reached;
        });
      case 'roll-back':
        return await rollBack(context);
      default:
        return state;
    }
  } catch (error) {
    // The runtime repeats the run at once.
    if (!(error instanceof Error) || isConflict(error) || context.signal.aborted) throw error;
    const { phase, plan: writes, backup } = state;
    return { phase: 'Failed', reason: `after ${phase}: ${describe(error)}`, plan: writes, backup, error };
  }
}

/** stateOf returns the state before this run has changed anything. */
function stateOf({ object }: MigrationContext, { parent }: SharedObjects, plan: MigrationPlan): MigrationState {
  const { backup } = (parent && readRecord(parent)) ?? {};
  const { writes, conflicts } = plan;
  const control = parent?.metadata?.annotations?.[ANNOTATIONS.migration];
  switch (decide({ parent }, plan)) {
    case 'nothing':
      return { phase: 'NotNeeded', reason: 'no operand has a value that this object lacks' };
    case 'disabled':
      return {
        phase: 'Disabled',
        reason: `the annotation ${ANNOTATIONS.migration} is disabled; set it to run to migrate`,
        plan: writes,
      };
    case 'conflict':
      return { phase: 'Conflict', reason: conflicts.map(describeConflict).join('; ') };
    case 'plan':
      return {
        phase: 'Planned',
        reason: `nothing is changed; set the annotation ${ANNOTATIONS.migration} to run to migrate`,
        plan: writes,
      };
    case 'apply':
      return { phase: 'Planned', reason: 'the values are being moved', plan: writes };
    case 'finish':
      return isCompleted(object, backup)
        ? { phase: 'Completed', reason: object.status?.migration?.reason ?? '', backup }
        : { phase: 'Applied', reason: 'the values are moved, and the operands follow', backup };
    case 'roll-back':
      return rollingBack(backup);
    case 'rolled-back':
      return { ...rolledBack(backup), plan: writes };
    case 'invalid':
      return {
        phase: 'Failed',
        reason: `the annotation ${ANNOTATIONS.migration} is ${JSON.stringify(control)}; set it to one of ${CONTROLS.join(', ')}, or remove it`,
        backup,
      };
  }
}

/** A migration stays completed: what changes afterwards has nothing to do with it. */
function isCompleted({ status }: MigrationContext['object'], backup: string | undefined): boolean {
  return status?.migration?.phase === 'Completed' && status.migration.backup === backup;
}

/** Refusals say what to do. Other errors may contain anything, for example addresses that differ each time. */
function describe(error: Error): string {
  const isAnswer = error instanceof ApiError ? error.status < 500 : error instanceof BowlineError;
  return isAnswer ? error.message : "unexpected error, which is retried; see the operator's log";
}
