import { Command } from 'commander';
import { crdObjects } from '../manifests/install-manifests.ts';
import { printObjects } from '../manifests/print-objects.ts';
import { loadOperators } from '../operators/registry.ts';
import { type OutputFormat, outputOption } from '../terminal/output-format.ts';
import type { CommandInput } from './command-input.ts';

/** crdsCommand returns the command `bowline crds`. */
export function crdsCommand({ registry, io }: CommandInput): Command {
  return new Command('crds')
    .description('Prints the CustomResourceDefinitions of operators, for kubectl apply.')
    .option(
      '--operators <a,b>',
      `operators to print the definitions of (default: all): ${Object.keys(registry).join(', ')}`,
    )
    .addOption(outputOption('yaml'))
    .addHelpText(
      'after',
      `
Example:
  bowline crds --operators configmap-sync | kubectl apply --server-side -f -`,
    )
    .action(async ({ operators, output }: { operators?: string; output: OutputFormat }) => {
      const names = operators?.split(',').map((name) => name.trim()) ?? Object.keys(registry);
      const selected = await loadOperators(registry, names);
      const objects = crdObjects(selected);
      io.out(printObjects(objects, output));
      // If the output is piped to kubectl, kubectl reports only that it received nothing.
      if (objects.length === 0)
        io.err(`nothing to install: no CustomResourceDefinitions in ${selected.map(({ name }) => name).join(', ')}\n`);
    });
}
