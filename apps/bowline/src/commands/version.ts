import { Command } from 'commander';
import { bowlineVersion, supportedKubernetes } from '../bowline-version.ts';
import type { Io } from '../terminal/io.ts';
import { type OutputFormat, outputOption, printValue } from '../terminal/output-format.ts';

const versions = { version: bowlineVersion, node: process.versions.node, kubernetes: supportedKubernetes };

/** versionCommand returns the command `bowline version`. */
export function versionCommand(io: Io): Command {
  return new Command('version')
    .description('Shows the versions of Bowline and Node, and the Kubernetes versions it supports.')
    .addOption(outputOption('table'))
    .addHelpText('after', '\nExample:\n  bowline version -o json')
    .action(async ({ output }: { output: OutputFormat }) => {
      io.out(await printValue(versions, output, versionTable));
    });
}

function versionTable(): string {
  const { version, node, kubernetes } = versions;
  const lines = [
    `bowline ${version}`,
    `node ${node}`,
    `kubernetes ${kubernetes.oldest} and later, tested with ${kubernetes.tested}`,
  ];
  return `${lines.join('\n')}\n`;
}
