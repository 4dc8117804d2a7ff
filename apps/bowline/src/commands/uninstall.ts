import { parseDuration, systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { connect, createClient } from '@bowline/runtime/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import { addClusterOptions, type ClusterOptions, findCluster } from '../cluster/connect-cluster.ts';
import { INSTALLED_IN } from '../install/labels.ts';
import { DEFAULT_NAMESPACE } from '../install/names.ts';
import { loadOperators } from '../operators/registry.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { type OutputFormat, outputOption } from '../terminal/output-format.ts';
import { abandonedOperators, perhapsAbandoned } from '../uninstall/abandoned-operators.ts';
import { readInstall } from '../uninstall/install-state.ts';
import { kindsOf } from '../uninstall/operator-objects.ts';
import { planUninstall } from '../uninstall/plan-uninstall.ts';
import { runUninstall } from '../uninstall/run-uninstall.ts';
import { countObjects, showPlan } from '../uninstall/show-plan.ts';
import type { CommandInput } from './command-input.ts';

interface UninstallCommandOptions extends ClusterOptions {
  readonly operators?: string;
  readonly namespace: string;
  readonly deleteResources: boolean;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly timeout: number;
  readonly output: OutputFormat;
}

/** uninstallCommand returns the command `bowline uninstall`. */
export function uninstallCommand(input: CommandInput): Command {
  return addClusterOptions(new Command('uninstall'))
    .description('Removes an install; keeps the objects that it looked after, their kinds, and what it wrote.')
    .option('--operators <a,b>', 'only these operators (default: all of the install)')
    .option('--namespace <name>', "the manager's namespace, which tells installs apart", DEFAULT_NAMESPACE)
    .option(
      '--delete-resources',
      'delete the objects first, so that their deletion policies are carried out, and at last their kinds',
      false,
    )
    .option('--yes', 'do not ask', false)
    .option('--dry-run', 'show what would be done, and do nothing', false)
    .addOption(
      new Option('--timeout <duration>', 'how long objects and pods may take to go')
        .argParser(parseTimeout)
        .default(300_000, '5m'),
    )
    .addOption(outputOption('table'))
    .addHelpText(
      'after',
      `
Webhooks go first, then workloads, rights and our finalizers. What is removed is known by the labels that \`bowline manifests\` put
on it; nothing else is touched. It can be interrupted and run again. It needs the rights of an administrator.
When an install was removed by other means, it takes our finalizers off the objects of operators that nobody runs any more.

Examples:
  bowline uninstall --dry-run
  bowline uninstall --delete-resources --yes`,
    )
    .action((options: UninstallCommandOptions) => uninstall(options, input));
}

async function uninstall(options: UninstallCommandOptions, { registry, io }: CommandInput): Promise<void> {
  const { namespace, deleteResources, output } = options;
  const chosen = options.operators?.split(',').map((name) => name.trim());
  if (chosen) await loadOperators(registry, chosen);
  using interruption = untilInterrupted();
  const { signal } = interruption;
  const { config } = await findCluster(options, io.env);
  await using client = createClient({ transport: connect(config) });
  const known = Object.keys(registry);
  const state = await readInstall(client, namespace, known, signal);
  const suspects = await loadOperators(registry, perhapsAbandoned(state, chosen, known));
  const plan = planUninstall(state, chosen, await abandonedOperators(client, suspects, state, signal));
  if (plan.operators.length === 0 && plan.steps.length === 0) {
    const what = chosen ? `of ${chosen.join(', ')} ` : '';
    io.err(
      `nothing ${what}is installed in namespace ${namespace}: nothing carries the label ${INSTALLED_IN}=${namespace}, and no object waits for an operator that nobody runs\n`,
    );
    for (const { operators, namespace: elsewhere } of state.others) {
      io.err(`${operators.join(', ')} runs in namespace ${elsewhere}\n`);
    }
    return;
  }
  const operators = await loadOperators(registry, plan.operators);
  const counts = await countObjects(client, kindsOf(operators, plan.scopes), signal);
  io.out(await showPlan(plan, counts, { deleteResources, format: output }));
  if (options.dryRun) return;
  if (!options.yes) await confirm(io);
  const progress = (line: string): void => io.err(`${line}\n`);
  const timeoutMs = options.timeout;
  await runUninstall({ client, plan, operators, deleteResources, timeoutMs, wire: systemClock, signal, progress });
  if (plan.steps.length === 0) return io.err('done\n');
  io.err(`done; \`kubectl delete namespace ${namespace}\` removes the namespace, if nothing else is in it\n`);
}

async function confirm(io: Io): Promise<void> {
  const answer = await io.ask('Continue? [y/N] ');
  if (answer === undefined) {
    throw new BowlineError(
      'BOWLINE_UNINSTALL_UNCONFIRMED',
      'nothing was removed: there is no terminal to ask on; give --yes to do what the plan says',
    );
  }
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new BowlineError('BOWLINE_UNINSTALL_DECLINED', 'nothing was removed: the answer was not yes');
}

function parseTimeout(text: string): number {
  try {
    const ms = parseDuration(text);
    if (ms > 0) return ms;
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('Give a duration such as 90s or 5m.');
}
