import type { ReconcileResult } from '@bowline/runtime';
import { OPERAND_KINDS } from '../api/operand-kinds.ts';
import { finishMigration } from '../migration/finish-migration.ts';
import { migrate } from '../migration/migrate.ts';
import { reportMigration } from '../migration/report-migration.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { report } from '../operand/report.ts';
import { readSingletons } from '../operand/singletons.ts';
import { bundleProblem, jwtIssuerProblem, namespaceProblem, validity } from '../operand/validity.ts';
import { conflictEvent, conflictsIn, describeConflict, resolvedValue } from '../resolve/hold.ts';
import type { SharedConfig } from '../resolve/shared-config.ts';
import type { ConfigContext } from './controller.ts';
import { linkOperands } from './link-operands.ts';
import { effectiveConfig, operandStatus, operandsAvailable } from './status.ts';
import { removeStrayWorkloads } from './stray-workloads.ts';
import { reportToOlm, upgradeable } from './upgradeable.ts';

/** reconcile migrates and links the operands, writes shared values into them, and reports about all of them. */
export async function reconcile(context: ConfigContext): Promise<ReconcileResult> {
  const { object, status, event, deps } = context;
  deps.metrics.configSeen(object);
  const begun = await migrate(context, readSingletons(context));
  // A user who only wants to see the plan expects that nothing changes.
  await linkOperands(context, readSingletons(context), { onlyRepair: begun.phase === 'Planned' });
  const singletons = readSingletons(context);
  const isApplied = begun.phase === 'Applied' && !begun.isRollingBack;
  const migration = isApplied ? await finishMigration(context, singletons, begun.backup) : begun;
  await removeStrayWorkloads(context, singletons);
  const conflicts = conflictsIn(singletons.shared);
  for (const conflict of conflicts) {
    event('Warning', conflictEvent([conflict.field]), describeConflict(conflict));
  }
  deps.metrics.setConflicts(conflicts.map(({ field }) => field));
  for (const kind of OPERAND_KINDS) if (!singletons.operands[kind]) deps.metrics.operandReady(kind, false);
  status.set({
    operands: OPERAND_KINDS.flatMap((kind) => operandStatus(kind, singletons)),
    effectiveConfig: effectiveConfig(singletons.shared),
    conflicts: conflicts.map(({ field, kind, value, wanted }) => ({ field, kind, value, wanted })),
  });
  const available = operandsAvailable(object.spec.requiredOperands, singletons);
  const upgrade = upgradeable(available, deps.config);
  await reportToOlm(context, upgrade);
  report(context, [validityOf(context, singletons.shared), available, upgrade, reportMigration(context, migration)]);
  // It is retried with a growing delay, and everything else is reported.
  if (migration.error) throw migration.error;
  return { requeueAfterMs: migration.requeueAfterMs };
}

/** Values that are missing or in conflict are reported by the operands that need them. */
function validityOf({ object, deps }: ConfigContext, shared: SharedConfig): OperandCondition {
  const jwtIssuer = resolvedValue(shared, 'jwtIssuer');
  const bundle = resolvedValue(shared, 'bundleConfigMap');
  return validity(
    namespaceProblem(object, deps.config),
    jwtIssuer === undefined ? undefined : jwtIssuerProblem(jwtIssuer),
    bundle === undefined ? undefined : bundleProblem(bundle),
  );
}
