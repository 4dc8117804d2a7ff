import { Command } from 'commander';
import { controlPlaneCommand } from './commands/control-plane.ts';
import { superviseCommand } from './commands/supervise.ts';
import { upCommand } from './commands/up.ts';
import { versionCommand } from './commands/version.ts';
import { exitCodeHelp } from './exit-codes.ts';
import { report } from './report.ts';

const program = new Command('bowline')
  .description('Runs Kubernetes operators and control planes.')
  .addHelpText('after', exitCodeHelp)
  .addCommand(upCommand())
  .addCommand(controlPlaneCommand())
  .addCommand(versionCommand())
  .addCommand(superviseCommand(), { hidden: true });

/** Commands that are added do not inherit how errors are shown. */
function throwUsageErrors(command: Command): void {
  command.exitOverride().showHelpAfterError(`(\`${fullName(command)} --help\` shows what is possible)`);
  command.commands.forEach(throwUsageErrors);
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

throwUsageErrors(program);
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
