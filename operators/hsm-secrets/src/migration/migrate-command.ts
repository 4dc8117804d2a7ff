import { BowlineError, command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { runMigration, showMigration } from './migrate.ts';
import { isOpen, type Step } from './step.ts';

/** migrateCommand takes over the objects of an older operator: `bowline hsm-secrets migrate`. */
export const migrateCommand: Command = command({
  name: 'migrate',
  summary: 'Shows what is left to do to take over the objects of an older operator, and does it with --run.',
  options: s.object({
    dryRun: s.boolean().default(false).describe('Only show what is left to do. This is the default.'),
    run: s.boolean().default(false).describe('Do what can be done. Can be interrupted and repeated.'),
    deleteOld: s
      .boolean()
      .default(false)
      .describe('Also delete agents and discovery of the older operator, once the pools that replace them are Ready.'),
    namespaces: s
      .array(s.dnsLabel())
      .maxItems(1000)
      .describe('The namespaces of the objects and of the older operator. Defaults to the whole cluster.')
      .optional(),
  }),
  output: {
    columns: [
      { name: 'State', value: (step: Step) => step.state },
      { name: 'Object', value: ({ object }) => object },
      { name: 'Action', value: ({ action }) => action },
      { name: 'Next', value: ({ next }) => next },
    ],
    empty: 'Nothing is left to do.',
  },
  cluster: true,
  run: async ({ options: { dryRun, run, deleteOld, namespaces }, cluster, print, signal }) => {
    if (dryRun && run) {
      throw new BowlineError('BOWLINE_ARGUMENT_INVALID', '--dry-run and --run exclude each other; pass one of them');
    }
    const { client, managerNamespace } = cluster;
    const options = { client, managerNamespace, namespaces, deleteOld, signal };
    if (!run) return await showMigration(options);
    const steps = await runMigration(options);
    const open = steps.filter(isOpen);
    if (open.length === 0) return steps;
    // A command that fails returns no data.
    for (const step of steps) print(describe(step));
    throw incomplete(open);
  },
});

function incomplete(open: readonly Step[]): BowlineError {
  const first = open.find(({ next }) => next !== undefined);
  const next = first ? `next, for ${first.object}: ${first.next}` : 'run it again';
  const count = open.length === 1 ? '1 step is' : `${open.length} steps are`;
  return new BowlineError('BOWLINE_HSM_MIGRATION_INCOMPLETE', `the migration is not complete: ${count} left; ${next}`);
}

function describe({ state, object, action, next }: Step): string {
  return `${state}: ${object}: ${action}${next === undefined ? '' : `; ${next}`}`;
}
