import type { Client } from '@bowline/runtime/client';
import { findObjects, type Scope } from './find-objects.ts';
import { performChange } from './perform-change.ts';
import { type PlanOptions, planMigration } from './plan-migration.ts';
import type { Change, PlannedStep, Step } from './step.ts';

/** MigrateOptions configures a migration. */
export interface MigrateOptions extends Scope, PlanOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** showMigration returns the steps that are left, and changes nothing. */
export async function showMigration(options: MigrateOptions): Promise<readonly Step[]> {
  return (await plan(options)).map(withoutChange);
}

/** Steps enable others at most twice: the pool of a rewritten HSMDevice, and then its discovery. */
const MAX_PASSES = 4;

/**
 * runMigration performs the steps that can be performed, and returns them, followed by those that are left. An object
 * that cannot be changed does not stop the others. It can be interrupted at any point, and run again.
 */
export async function runMigration(options: MigrateOptions): Promise<readonly Step[]> {
  const finished: Step[] = [];
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const steps = await plan(options);
    const ready = steps.flatMap(({ change, ...step }) => (change ? [{ step, change }] : []));
    const hasFailed = finished.some(({ state }) => state === 'failed');
    if (ready.length === 0 || hasFailed || pass === MAX_PASSES) {
      const isListed = ({ object, action }: Step): boolean =>
        finished.some((each) => each.state === 'failed' && each.object === object && each.action === action);
      return [...finished, ...steps.map(withoutChange).filter((step) => !isListed(step))];
    }
    for (const { step, change } of ready) finished.push(await perform(options, step, change));
  }
  return finished;
}

async function perform({ client, signal }: MigrateOptions, step: Step, change: Change): Promise<Step> {
  signal.throwIfAborted();
  try {
    await performChange(client, change, signal);
    return { ...step, state: 'done' };
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    return { ...step, state: 'failed', next: `${reason}; run the migration again` };
  }
}

async function plan({ client, signal, managerNamespace, namespaces, deleteOld }: MigrateOptions) {
  return planMigration(await findObjects(client, { managerNamespace, namespaces }, signal), { deleteOld });
}

function withoutChange({ change: _, ...step }: PlannedStep): Step {
  return step;
}
