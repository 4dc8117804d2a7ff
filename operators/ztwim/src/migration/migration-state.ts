import type { MigrationPhase } from '../api/migration-phases.ts';
import type { PlannedWrite } from './plan-migration.ts';

/** MigrationState is what a run reports about the migration. */
export interface MigrationState {
  readonly phase: MigrationPhase;
  /** What to know about the phase, and what to do. */
  readonly reason: string;
  /** The writes that are planned. Defaults to none. */
  readonly plan?: readonly PlannedWrite[] | undefined;
  /** The name of the ConfigMap with the specs before the migration, if there is one. */
  readonly backup?: string | undefined;
  /** Whether the migration is being undone. Defaults to false. */
  readonly isRollingBack?: boolean | undefined;
  /** Why the run fails and is retried, after it has reported. */
  readonly error?: Error | undefined;
  readonly requeueAfterMs?: number | undefined;
}
