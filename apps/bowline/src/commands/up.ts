import { BowlineError } from '@bowline/runtime';
import { Command } from 'commander';

/** upCommand is `bowline up`, which needs the embedded control plane. */
export function upCommand(): Command {
  return new Command('up')
    .description('Runs the operators, with samples, on the embedded control plane (which does not exist yet).')
    .addHelpText('after', '\nExample:\n  bowline up')
    .action(() => {
      throw new BowlineError(
        'BOWLINE_CONTROL_PLANE_KIND',
        'bowline up needs the embedded control plane, which does not exist yet; `bowline control-plane start --kind kubernetes` runs a real one',
      );
    });
}
