import { Command, Option } from 'commander';
import { goModule } from '../control-plane/go-module.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { type OutputFormat, outputOption, printValue } from '../terminal/output-format.ts';

/** buildCommand returns the command `bowline control-plane build`. */
export function buildCommand(io: Io): Command {
  return new Command('build')
    .description('Builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl into a cache.')
    .addOption(
      new Option('--kind <kind>', 'only kubernetes has binaries').choices(['kubernetes']).default('kubernetes'),
    )
    .addOption(outputOption('table'))
    .addHelpText(
      'after',
      `
Needs Go. Writes the binaries to $XDG_CACHE_HOME/bowline/control-plane, by default ~/.cache/bowline/control-plane, unless
they exist there for this version, and prints the folder.

Example:
  bowline control-plane build --kind kubernetes`,
    )
    .action(async ({ output }: { output: OutputFormat }) => {
      const { buildBinaries } = await import('@bowline/control-plane');
      const { signal } = listenForInterrupt();
      const folder = await buildBinaries({
        moduleDir: goModule(),
        signal,
        onProgress: (line) => io.err(`${line}\n`),
      });
      io.out(await printValue({ folder }, output, () => `${folder}\n`));
    });
}
