import { Command } from 'commander';

/**
 * superviseCommand returns the command of the process that ends a control plane's components when this program is gone.
 */
export function superviseCommand(): Command {
  return new Command('supervise')
    .description('Internal: runs components as instructed on standard input.')
    .action(async () => {
      const { runSupervisor } = await import('@bowline/control-plane');
      await runSupervisor();
    });
}
