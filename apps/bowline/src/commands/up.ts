import { parseDuration } from '@bowline/machinery';
import { Command, InvalidArgumentError, Option } from 'commander';
import { loadOperators } from '../operators/registry.ts';
import type { UpOptions } from '../up/run-up.ts';
import type { CommandInput } from './command-input.ts';
import { parsePort } from './parse-port.ts';

/** upCommand returns the command `bowline up`. */
export function upCommand({ registry, io }: CommandInput): Command {
  const known = Object.keys(registry);
  return new Command('up')
    .description('Runs operators with samples on a separate control plane, and displays their state.')
    .option('--operators <names>', `operators to run, separated by commas (default: all: ${known.join(', ')})`)
    .addOption(
      new Option(
        '--control-plane <kind>',
        'embedded: in this process; kubernetes: the real components; current-context: an existing cluster',
      )
        .choices(['embedded', 'kubernetes', 'current-context'])
        .default('embedded'),
    )
    .option('--port <number>', 'port of the API server on 127.0.0.1 (default: a free one)', parsePort)
    .option(
      '--data-dir <folder>',
      'folder to keep all data in and to continue with at the next start (default: nothing is kept)',
    )
    .option('--kubeconfig <file>', "where to write the kubeconfig (default: in the control plane's folder)")
    .option('--samples', 'create the samples (the default, except in the current context)')
    .option('--no-samples', 'do not create the samples')
    .option('--exit-when-ready', 'exit with 0 once every sample is ready; for scripts', false)
    .option('--timeout <duration>', 'with --exit-when-ready: maximum time to wait', parseTime, '60s')
    .option('--json', 'print one line of JSON when everything is ready, instead of the view', false)
    .option('--yes', 'skip the confirmation for the current context', false)
    .addHelpText(
      'after',
      `
Every operator runs as a ServiceAccount with the permissions that it declares, as in a cluster.

Examples:
  bowline up
  bowline up --operators configmap-sync --data-dir cluster
  bowline up --exit-when-ready --timeout 60s --json
  bowline up --control-plane current-context --samples`,
    )
    .action(async ({ operators, ...options }: UpOptions & { readonly operators?: string }) => {
      const { runUp } = await import('../up/run-up.ts');
      const names = operators === undefined ? known : operators.split(',').map((name) => name.trim());
      await runUp({
        operators: await loadOperators(registry, names),
        options,
        io,
        terminal: process.stdout.isTTY ? process.stdout : undefined,
      });
    });
}

function parseTime(text: string): string {
  try {
    parseDuration(text);
    return text;
  } catch {
    throw new InvalidArgumentError('Must be a duration such as 60s or 2m.');
  }
}
