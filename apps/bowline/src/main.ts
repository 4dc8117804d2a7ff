import { Command } from 'commander';
import { controlPlaneCommand } from './commands/control-plane.ts';
import { superviseCommand } from './commands/supervise.ts';
import { upCommand } from './commands/up.ts';
import { versionCommand } from './commands/version.ts';
import { exitCodeHelp } from './exit-codes.ts';
import { report } from './report.ts';

const program = new Command('bowline')
  .description('Runs Kubernetes operators and control planes.')
  .showHelpAfterError('(add --help for what is possible)')
  .addHelpText('after', exitCodeHelp)
  .addCommand(upCommand())
  .addCommand(controlPlaneCommand())
  .addCommand(versionCommand())
  .addCommand(superviseCommand(), { hidden: true });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
