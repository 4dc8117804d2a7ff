import type { MigrationPhase } from '../api/migration-phases.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { OperandCondition } from '../operand/condition.ts';
import type { MigrationState } from './migration-state.ts';

/** The events about phases, which are sent when a phase begins. */
const EVENTS: { readonly [P in MigrationPhase]?: readonly ['Normal' | 'Warning', string] } = {
  Planned: ['Normal', 'MigrationPlanned'],
  Completed: ['Normal', 'MigrationCompleted'],
  RolledBack: ['Normal', 'MigrationRolledBack'],
  Conflict: ['Warning', 'MigrationConflict'],
  Failed: ['Warning', 'MigrationFailed'],
};

/** MigrationReports is the part of a run's context that reports about the migration. */
export interface MigrationReports {
  readonly deps: { readonly metrics: { setMigrationPhase(phase: MigrationPhase): void } };
  readonly status: {
    set(fields: Pick<NonNullable<ZeroTrustWorkloadIdentityManager['status']>, 'migration'>): void;
  };
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** reportMigration reports a state, except for the condition, which it returns. */
export function reportMigration(
  { deps, status, event }: MigrationReports,
  { phase, reason, plan = [], backup }: MigrationState,
): OperandCondition {
  const [type, name] = EVENTS[phase] ?? [];
  if (type && name) event(type, name, reason);
  deps.metrics.setMigrationPhase(phase);
  status.set({
    migration: {
      phase,
      reason,
      ...(plan.length === 0 ? {} : { plan: [...plan] }),
      ...(backup === undefined ? {} : { backup }),
    },
  });
  const isComplete = phase === 'NotNeeded' || phase === 'Completed';
  return { type: 'MigrationComplete', status: isComplete, reason: phase, message: reason };
}
