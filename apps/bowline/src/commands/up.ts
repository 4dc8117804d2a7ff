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
    .description('Runs operators with samples on a control plane of their own, and shows them at work.')
    .option('--operators <names>', `which operators, separated by commas (default: all: ${known.join(', ')})`)
    .addOption(
      new Option('--control-plane <kind>', 'embedded: in this process; kubernetes: the real components; or a cluster')
        .choices(['embedded', 'kubernetes', 'current-context'])
        .default('embedded'),
    )
    .option('--port <number>', 'port of the API server on 127.0.0.1 (default: a free one)', parsePort)
    .option(
      '--data-dir <folder>',
      'keep everything here, and continue with it the next time (default: nothing is kept)',
    )
    .option('--kubeconfig <file>', "where to write the kubeconfig (default: in the control plane's folder)")
    .option('--samples', 'make the samples (the default, except in the current context)')
    .option('--no-samples', 'do not make the samples')
    .option('--exit-when-ready', 'end once every sample is ready, with 0; for scripts', false)
    .option('--timeout <duration>', 'with --exit-when-ready: how long that may take', parseTime, '60s')
    .option('--json', 'one JSON line when all is ready, instead of the view', false)
    .option('--yes', 'do not ask before working in the current context', false)
    .addHelpText(
      'after',
      `
Every operator runs under an account of its own with the rights that it declares, as in a cluster.

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
    throw new InvalidArgumentError('Give a duration such as 60s or 2m.');
  }
}
