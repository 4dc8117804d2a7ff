import { Command } from 'commander';
import { crdObjects, dependencyObjects } from '../manifests/install-manifests.ts';
import { printObjects } from '../manifests/print-objects.ts';
import { loadOperators } from '../operators/registry.ts';
import { type OutputFormat, outputOption } from '../terminal/output-format.ts';
import type { CommandInput } from './command-input.ts';

interface CrdsOptions {
  readonly operators?: string;
  readonly dependencies: boolean;
  readonly output: OutputFormat;
}

/** crdsCommand returns the command `bowline crds`. */
export function crdsCommand({ registry, io }: CommandInput): Command {
  return new Command('crds')
    .description('Prints the CustomResourceDefinitions of operators, for kubectl apply.')
    .option(
      '--operators <a,b>',
      `operators to print the definitions of (default: all): ${Object.keys(registry).join(', ')}`,
    )
    .option(
      '--dependencies',
      'print, instead of the definitions of the operators, those of other projects that they use',
      false,
    )
    .addOption(outputOption('yaml'))
    .addHelpText(
      'after',
      `
A definition of another project must not be overwritten: \`kubectl create\` leaves existing ones unchanged.

Examples:
  bowline crds --operators configmap-sync | kubectl apply --server-side -f -
  bowline crds --dependencies | kubectl create -f -`,
    )
    .action(async ({ operators, dependencies, output }: CrdsOptions) => {
      const names = operators?.split(',').map((name) => name.trim()) ?? Object.keys(registry);
      const selected = await loadOperators(registry, names);
      const objects = dependencies ? dependencyObjects(selected) : crdObjects(selected);
      io.out(printObjects(objects, output));
      // If the output is piped to kubectl, kubectl reports only that it received nothing.
      if (objects.length === 0) {
        const what = dependencies ? 'dependencies' : 'CustomResourceDefinitions';
        io.err(`nothing to install: no ${what} in ${selected.map(({ name }) => name).join(', ')}\n`);
      }
    });
}
