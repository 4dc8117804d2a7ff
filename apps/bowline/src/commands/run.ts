import { Command } from 'commander';
import { addClusterOptions, type ClusterOptions } from '../cluster/connect-cluster.ts';
import { addSettings } from '../config/settings-options.ts';
import { runManager } from '../manager/run-manager.ts';
import type { CommandInput } from './command-input.ts';

/** runCommand returns the command `bowline run`. */
export async function runCommand(input: CommandInput): Promise<Command> {
  const command = addClusterOptions(new Command('run'))
    .description('Runs operators against a cluster until SIGINT or SIGTERM.')
    .addHelpText(
      'after',
      `
Flags override the file of --config. With --operators, the help also lists the settings of these operators.
After SIGTERM it exits with 0 once running reconciles have ended and the Leases are released.

Examples:
  bowline run --operators configmap-sync
  bowline run --operators configmap-sync --help
  bowline run --config bowline.yaml --log-level debug`,
    );
  const settingsOf = await addSettings(command, input);
  return command.action(async (options: ClusterOptions, parsed: Command) => {
    await runManager(settingsOf(parsed), options, input.io.env);
  });
}
