import { BowlineError, command } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { Control } from '../migration/decide.ts';
import { readRecord } from '../migration/migration-record.ts';
import { type MigrationPlan, type PlannedWrite, planMigration } from '../migration/plan-migration.ts';
import { readLive, type SharedObjects } from '../operand/shared-objects.ts';
import { describeConflict } from '../resolve/hold.ts';
import type { Conflict } from '../resolve/shared-config.ts';
import { conflictError } from './conflict-table.ts';
import { type MigrationResult, untilMigrated } from './until-migrated.ts';

/** PlanRow is a planned write, or a conflict that prevents the migration. */
type PlanRow = PlannedWrite | Conflict;

function isConflictRow(row: PlanRow): row is Conflict {
  return 'wanted' in row;
}

function rowsOf({ writes, conflicts }: MigrationPlan): readonly PlanRow[] {
  return conflicts.length > 0 ? conflicts : writes;
}

const planCommand = command({
  name: 'migrate plan',
  summary: 'Shows which values of operands a migration moves to the ZeroTrustWorkloadIdentityManager.',
  cluster: true,
  output: {
    columns: [
      { name: 'Field', value: ({ field }: PlanRow) => field },
      { name: 'Source', value: (row) => (isConflictRow(row) ? row.kind : row.source) },
      { name: 'Value', value: ({ value }) => value },
      { name: 'Write', value: (row) => (isConflictRow(row) ? undefined : row.write) },
      { name: 'Conflict', value: (row) => (isConflictRow(row) ? describeConflict(row) : undefined) },
    ],
    empty: 'There is nothing to migrate.',
    failure: (rows) => {
      const conflicts = rows.filter(isConflictRow);
      return conflicts.length === 0 ? undefined : conflictError(conflicts);
    },
  },
  run: async ({ cluster: { client }, signal }) => rowsOf(planMigration(await read(client, signal))),
});

const options = s.object({
  yes: s.boolean().default(false).describe('Do not ask for confirmation.'),
  timeout: s.duration().default('2m').describe('How long to wait for the operator, which does the work.'),
});

const output = {
  columns: [
    { name: 'Phase', value: ({ phase }: MigrationResult) => phase },
    { name: 'Backup', value: ({ backup }: MigrationResult) => backup },
    { name: 'Reason', value: ({ reason }: MigrationResult) => reason },
  ],
  failure: (rows: readonly MigrationResult[]) => rows.map(failureOf).find((error) => error !== undefined),
};

const runCommand = command({
  name: 'migrate run',
  summary: 'Moves values of operands to the ZeroTrustWorkloadIdentityManager, which it creates if you confirm.',
  cluster: true,
  options,
  output,
  run: async ({ cluster: { client }, options: { yes, timeout }, terminal, print, signal }) => {
    const objects = await read(client, signal);
    const plan = planMigration(objects);
    if (plan.conflicts.length > 0) {
      for (const conflict of plan.conflicts) print(describeConflict(conflict));
      throw conflictError(plan.conflicts);
    }
    const { parent } = objects;
    if (!plan.isNeeded) return { phase: 'NotNeeded', reason: 'no operand has a value that the object lacks' };
    if (!parent) print('create ZeroTrustWorkloadIdentityManager cluster');
    for (const { write, value } of plan.writes) print(`${write}: ${value}`);
    if (!yes) await confirm(() => terminal.ask('Migrate? (yes/no)', { alternative: 'pass --yes' }));
    if (parent) await request(client, 'run', signal);
    else await create(client, signal);
    const isDone = (stored: ZeroTrustWorkloadIdentityManager) => readRecord(stored)?.isRolledBack === false;
    return await untilMigrated(client, { phase: 'Completed', isDone, before: parent, timeout, signal });
  },
});

const rollbackCommand = command({
  name: 'migrate rollback',
  summary: 'Restores the specs before the migration. Values in use, and other edits since then, stay.',
  cluster: true,
  options,
  output,
  run: async ({ cluster: { client }, options: { yes, timeout }, terminal, print, signal }) => {
    const { parent } = await read(client, signal);
    const record = parent && readRecord(parent);
    if (!record || record.isRolledBack) {
      const reason = record ? 'the migration was rolled back before' : 'there is no migration to undo';
      return { phase: record ? 'RolledBack' : 'NotNeeded', reason, backup: record?.backup };
    }
    print(`restore ${record.fields.join(', ')} of the operands from the ConfigMap ${record.backup}`);
    if (!yes) await confirm(() => terminal.ask('Roll back? (yes/no)', { alternative: 'pass --yes' }));
    await request(client, 'rollback', signal);
    const isDone = (stored: ZeroTrustWorkloadIdentityManager) => readRecord(stored)?.isRolledBack === true;
    return await untilMigrated(client, { phase: 'RolledBack', isDone, before: parent, timeout, signal });
  },
});

/** migrateCommands plan, request and undo the migration: `bowline ztwim migrate plan|run|rollback`. */
export const migrateCommands: readonly Command[] = [planCommand, runCommand, rollbackCommand];

function read(client: Client, signal: AbortSignal): Promise<SharedObjects> {
  return readLive({ find: (kind, key) => client.find(kind, key, { signal }) });
}

async function confirm(ask: () => Promise<string>): Promise<void> {
  if ((await ask()).trim().toLowerCase() === 'yes') return;
  throw new BowlineError(
    'BOWLINE_ZTWIM_MIGRATION_FAILED',
    'nothing was changed: the question was not answered with yes',
  );
}

/** The operator does the work, so that it can continue whatever happens to this command. */
async function request(client: Client, control: Control, signal: AbortSignal): Promise<void> {
  const body = { metadata: { annotations: { [ANNOTATIONS.migration]: control } } };
  await client.patch(ZeroTrustWorkloadIdentityManager, { name: SINGLETON }, { type: 'merge', body }, { signal });
}

/** The object is empty: the operator moves the values, after it has saved the specs. */
async function create(client: Client, signal: AbortSignal): Promise<void> {
  const metadata = { name: SINGLETON, annotations: { [ANNOTATIONS.migration]: 'run' } };
  await client.create(ZeroTrustWorkloadIdentityManager, { metadata, spec: {} }, { signal });
}

function failureOf({ phase, reason }: MigrationResult): BowlineError | undefined {
  if (phase === 'Completed' || phase === 'RolledBack' || phase === 'NotNeeded') return undefined;
  return new BowlineError('BOWLINE_ZTWIM_MIGRATION_FAILED', `the migration has the phase ${phase}: ${reason}`);
}
