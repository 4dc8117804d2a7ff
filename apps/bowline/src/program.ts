import { Command } from 'commander';
import type { CommandInput } from './commands/command-input.ts';
import { controlPlaneCommand } from './commands/control-plane.ts';
import { superviseCommand } from './commands/supervise.ts';
import { versionCommand } from './commands/version.ts';
import { findPlugin, pluginName } from './operators/kubectl-plugin.ts';
import { loadCommands, type Registry } from './operators/registry.ts';
import { exitCodeHelp, exitCodes } from './terminal/exit-codes.ts';
import { type Io, processIo } from './terminal/io.ts';
import { report } from './terminal/report.ts';

/** LazyCommand is a command whose code, schemas and operators are loaded only when it is used. */
interface LazyCommand {
  readonly name: string;
  readonly summary: string;
  readonly load: (input: CommandInput) => Promise<Command>;
}

const lazyCommands: readonly LazyCommand[] = [
  {
    name: 'up',
    summary: 'Runs operators with samples on a separate control plane, and displays their state.',
    load: async (input) => (await import('./commands/up.ts')).upCommand(input),
  },
  {
    name: 'run',
    summary: 'Runs operators against a cluster until SIGINT or SIGTERM.',
    load: async (input) => (await import('./commands/run.ts')).runCommand(input),
  },
  {
    name: 'manifests',
    summary: 'Prints the manifests that run operators in a cluster, for kubectl apply.',
    load: async (input) => (await import('./commands/manifests.ts')).manifestsCommand(input),
  },
  {
    name: 'crds',
    summary: 'Prints the CustomResourceDefinitions of operators, for kubectl apply.',
    load: async (input) => (await import('./commands/crds.ts')).crdsCommand(input),
  },
  {
    name: 'types',
    summary: 'Generates a TypeScript module from the CustomResourceDefinitions of other projects.',
    load: async (input) => (await import('./commands/types.ts')).typesCommand(input),
  },
  {
    name: 'uninstall',
    summary: 'Removes an install; keeps custom objects, their CRDs, and the objects that operators wrote.',
    load: async (input) => (await import('./commands/uninstall.ts')).uninstallCommand(input),
  },
];

/**
 * runProgram runs the command line: it executes the arguments with the given operators. Invoked by a path that ends in
 * `kubectl-NAME`, it is the kubectl plugin of the operator that declares this name. It returns the exit code.
 */
export async function runProgram(
  args: readonly string[],
  registry: Registry,
  io: Io = processIo,
  invokedBy = '',
): Promise<number> {
  try {
    const plugin = pluginName(invokedBy);
    const program =
      plugin === undefined ? await assemble(args, registry, io) : await assemblePlugin(plugin, registry, io);
    configureIo(program, io);
    await program.parseAsync(args, { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    return report(error, io);
  }
}

/** assemblePlugin returns the commands of an operator as a kubectl plugin. */
async function assemblePlugin(name: string, registry: Registry, io: Io): Promise<Command> {
  const { summary, load } = findPlugin(registry, name);
  const { operatorCommands, addPluginOptions } = await import('./commands/operator-commands.ts');
  const prefix = `kubectl ${name}`;
  const program = operatorCommands({ operator: await load(), summary, prefix }, new Command(prefix), io);
  return addPluginOptions(program).addHelpText('after', exitCodeHelp);
}

async function assemble(args: readonly string[], registry: Registry, io: Io): Promise<Command> {
  const [word, ...rest] = args[0] === 'help' ? args.slice(1) : args;
  const program = new Command('bowline').description('Runs Kubernetes operators and control planes.');
  for (const { name, summary, load } of lazyCommands) {
    program.addCommand(
      word === name ? await load({ registry, args: rest, io }) : new Command(name).description(summary),
    );
  }
  const registered = word === undefined || !Object.hasOwn(registry, word) ? undefined : registry[word];
  if (word !== undefined && registered) {
    const { operatorCommands } = await import('./commands/operator-commands.ts');
    const operator = await loadCommands(word, registered, rest[0]);
    const { summary } = registered;
    program.addCommand(operatorCommands({ operator, summary, prefix: `bowline ${word}` }, new Command(word), io));
  }
  program
    .addCommand(controlPlaneCommand(io))
    .addCommand(versionCommand(io))
    .addCommand(superviseCommand(), { hidden: true })
    .addHelpText('after', () => operatorsHelp(registry) + exitCodeHelp);
  return program;
}

/** Operators are not loaded for the help, so their commands are not listed. */
function operatorsHelp(registry: Registry): string {
  const lines = Object.entries(registry).map(([name, { summary }]) => `  ${name.padEnd(18)} ${summary}`);
  return `\nOperators (\`bowline <operator> --help\` lists their commands):\n${lines.join('\n')}\n`;
}

/** Added commands do not inherit the settings for help and errors. */
function configureIo(command: Command, io: Io): void {
  command
    .exitOverride()
    .showHelpAfterError(`(see \`${fullName(command)} --help\` for usage)`)
    .configureOutput({ writeOut: io.out, writeErr: io.err });
  for (const each of command.commands) configureIo(each, io);
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}
