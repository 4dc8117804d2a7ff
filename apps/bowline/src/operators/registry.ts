import { BowlineError, type Operator } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { didYouMean } from '../terminal/did-you-mean.ts';

/** RegisteredOperator is an operator that is loaded when it is needed. */
export interface RegisteredOperator {
  /** One line for the help. */
  readonly summary: string;
  /** The kubectl plugin that the operator declares, so that it is found without loading all operators. */
  readonly kubectlPlugin?: string | undefined;
  readonly load: () => Promise<Operator>;
  /** Commands of the operator, by name, that are loaded without it, so that their processes need little memory. */
  readonly commands?: Readonly<Record<string, () => Promise<Command>>> | undefined;
  /**
   * Programs that the operator starts as processes of its own, by the argument after its name. They are loaded without
   * the command line and the operator, so that they need little memory.
   */
  readonly programs?: Readonly<Record<string, () => Promise<() => Promise<void>>>> | undefined;
}

/** CommandsOf is what the commands of an operator need to know about it. */
export type CommandsOf = Pick<Operator, 'name' | 'commands'>;

/** loadCommands returns an operator for the named command: all of it, or only that command if it can be loaded alone. */
export async function loadCommands(name: string, operator: RegisteredOperator, command = ''): Promise<CommandsOf> {
  const { commands = {}, load } = operator;
  const loadOne = Object.hasOwn(commands, command) ? commands[command] : undefined;
  return loadOne ? { name, commands: [await loadOne()] } : await load();
}

/** Registry holds the operators that a program can run, by name. */
export type Registry = Readonly<Record<string, RegisteredOperator>>;

/**
 * loadOperators returns the named operators, in the registry's order, each once. It throws BOWLINE_OPERATOR_UNKNOWN.
 */
export async function loadOperators(registry: Registry, names: readonly string[]): Promise<readonly Operator[]> {
  const known = Object.keys(registry);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new BowlineError(
      'BOWLINE_OPERATOR_UNKNOWN',
      `unknown operator ${JSON.stringify(unknown)}${didYouMean(unknown, known)}: --operators accepts ${known.join(', ')}`,
    );
  }
  const chosen = Object.entries(registry).filter(([name]) => names.includes(name));
  return await Promise.all(chosen.map(([, { load }]) => load()));
}
