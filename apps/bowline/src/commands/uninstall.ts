import { parseDuration, systemClock } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { connect, createClient } from '@bowline/runtime/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import { addClusterOptions, type ClusterOptions, findCluster } from '../cluster/connect-cluster.ts';
import { INSTALLED_IN } from '../install/labels.ts';
import { DEFAULT_NAMESPACE } from '../install/names.ts';
import { loadOperators } from '../operators/registry.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { type OutputFormat, outputOption } from '../terminal/output-format.ts';
import { abandonedOperators, possiblyAbandoned } from '../uninstall/abandoned-operators.ts';
import { withDeclaredObjects } from '../uninstall/declared-objects.ts';
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
    .description('Removes an install; keeps custom objects, their CRDs, and the objects that operators wrote.')
    .option('--operators <a,b>', 'only these operators (default: all operators of the install)')
    .option('--namespace <name>', "the manager's namespace, which identifies the install", DEFAULT_NAMESPACE)
    .option(
      '--delete-resources',
      'delete the custom objects first, according to their deletion policies, and finally their CRDs',
      false,
    )
    .option('--yes', 'skip the confirmation', false)
    .option('--dry-run', 'only print the plan', false)
    .addOption(
      new Option('--timeout <duration>', 'maximum time to wait until objects and pods are deleted')
        .argParser(parseTimeout)
        .default(300_000, '5m'),
    )
    .addOption(outputOption('table'))
    .addHelpText(
      'after',
      `
Removes webhooks first, then the manager, the workloads that operators created for themselves, permissions, companions and
our finalizers. Objects are selected by the labels that \`bowline manifests\` sets, and workloads by the labels that the
operators declare; no other object is changed. It can be interrupted and run again. It needs administrator permissions.
If an install was removed by other means, it removes our finalizers from the objects of operators that no longer run.

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
  using interruption = listenForInterrupt();
  const { signal } = interruption;
  const { config } = await findCluster(options, io.env);
  await using client = createClient({ transport: connect(config) });
  const known = Object.keys(registry);
  const state = await readInstall(client, namespace, known, signal);
  const suspects = await loadOperators(registry, possiblyAbandoned(state, chosen, known));
  const listed = planUninstall(state, chosen, await abandonedOperators(client, suspects, state, signal));
  const operators = await loadOperators(registry, listed.operators);
  const plan = await withDeclaredObjects(client, listed, operators, signal);
  if (plan.operators.length === 0 && plan.steps.length === 0) {
    const what = chosen ? `of ${chosen.join(', ')} ` : '';
    io.err(
      `nothing ${what}is installed in namespace ${namespace}: no object has the label ${INSTALLED_IN}=${namespace}, and no object has a finalizer of an operator that no longer runs\n`,
    );
    for (const { operators, namespace: elsewhere } of state.others) {
      io.err(`${operators.join(', ')} runs in namespace ${elsewhere}\n`);
    }
    return;
  }
  const counts = await countObjects(client, kindsOf(operators, plan.scopes), signal);
  io.out(await showPlan(plan, counts, { deleteResources, format: output }));
  if (options.dryRun) return;
  if (!options.yes) await confirm(io);
  const progress = (line: string): void => io.err(`${line}\n`);
  const timeoutMs = options.timeout;
  await runUninstall({ client, plan, operators, deleteResources, timeoutMs, wire: systemClock, signal, progress });
  if (plan.steps.length === 0) return io.err('done\n');
  io.err(`done; if the namespace contains nothing else, remove it with \`kubectl delete namespace ${namespace}\`\n`);
}

async function confirm(io: Io): Promise<void> {
  const answer = await io.ask('Continue? [y/N] ');
  if (answer === undefined) {
    throw new BowlineError(
      'BOWLINE_UNINSTALL_UNCONFIRMED',
      'nothing was removed: there is no terminal for the confirmation; pass --yes to carry out the plan',
    );
  }
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new BowlineError('BOWLINE_UNINSTALL_DECLINED', 'nothing was removed: the plan was not confirmed');
}

function parseTimeout(text: string): number {
  try {
    const ms = parseDuration(text);
    if (ms > 0) return ms;
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('Must be a duration such as 90s or 5m.');
}
