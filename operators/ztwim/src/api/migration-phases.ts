/** MIGRATION_PHASES are the phases of the migration of an installation whose operands hold the shared values. */
export const MIGRATION_PHASES = [
  'NotNeeded',
  'Planned',
  'BackedUp',
  'Applied',
  'Linked',
  'Completed',
  'Conflict',
  'Failed',
  'RolledBack',
  'Disabled',
] as const;

/** MigrationPhase is a phase of the migration. */
export type MigrationPhase = (typeof MIGRATION_PHASES)[number];
