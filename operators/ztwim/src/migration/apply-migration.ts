import { readLive } from '../operand/shared-objects.ts';
import { save } from './backup.ts';
import { decide } from './decide.ts';
import type { MigrationContext } from './migration-context.ts';
import { readRecord } from './migration-record.ts';
import type { MigrationState } from './migration-state.ts';
import { MIGRATED_FIELDS, planMigration } from './plan-migration.ts';
import { valuesIn, writeParent } from './write-parent.ts';

/**
 * applyMigration saves the specs and moves the values into the ZeroTrustWorkloadIdentityManager. The objects are read
 * from the API server: the backup must not be older than what users wrote. `reached` is called after each step.
 */
export async function applyMigration(
  context: MigrationContext,
  reached: (state: MigrationState) => void,
): Promise<MigrationState> {
  const objects = await readLive(context.live);
  const { parent } = objects;
  const plan = planMigration(objects);
  const { writes } = plan;
  const planned: MigrationState = { phase: 'Planned', reason: 'the values are being moved', plan: writes };
  const isCurrent = parent?.metadata?.uid === context.object.metadata?.uid;
  // Events about what changed since the cached version start another run.
  if (!parent || !isCurrent || decide(objects, plan) !== 'apply') return planned;
  reached(planned);
  const names = Object.keys(plan.values).join(', ');
  context.event('Normal', 'MigrationPlanned', `${names}: the values of the operands are moved to this object`);
  const backup = await save(context, context.deps.config.operandNamespace, objects);
  reached({ phase: 'BackedUp', reason: 'the specs are saved', plan: writes, backup });
  const { fields: earlier = [] } = readRecord(parent) ?? {};
  const values = { ...valuesIn(parent, earlier), ...plan.values };
  const fields = MIGRATED_FIELDS.filter((field) => values[field] !== undefined);
  await writeParent(context, parent, values, { backup, fields, isRolledBack: false });
  return { phase: 'Applied', reason: 'the values are moved, and the operands follow', backup };
}
