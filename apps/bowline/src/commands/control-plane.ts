import { Command } from 'commander';
import type { Io } from '../terminal/io.ts';
import { buildCommand } from './control-plane-build.ts';
import { startCommand } from './control-plane-start.ts';

/** controlPlaneCommand returns the command `bowline control-plane`. */
export function controlPlaneCommand(io: Io): Command {
  return new Command('control-plane')
    .description('Starts a Kubernetes control plane on this machine, or builds its binaries.')
    .addHelpText(
      'after',
      '\nExample:\n  bowline control-plane start --kind embedded --port 6443 --kubeconfig kubeconfig',
    )
    .addCommand(startCommand(io))
    .addCommand(buildCommand(io));
}
