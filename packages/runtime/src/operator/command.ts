import type { KubernetesObject } from '@bowline/kubernetes';
import type { FieldSchemas, ObjectSchema, Read } from '@bowline/machinery/schema';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';
import type { CommandFlag, CommandFlags } from './command-flags.ts';
import type { CommandInputs, CommandTerminal, InputValues } from './command-input.ts';
import type { CommandColumn, CommandOutput } from './command-output.ts';

/** CommandArgument is a positional argument of a command. */
export interface CommandArgument {
  /** One line for the help. */
  readonly summary: string;
  /**
   * Its placeholder in the example of the help; several words for a variadic argument. Defaults to its name in
   * capitals.
   */
  readonly example?: string | undefined;
  /** Whether it may be omitted. Defaults to false. */
  readonly optional?: boolean | undefined;
  /**
   * Whether it takes all remaining words, at least one unless it is optional. Only the last argument can. Defaults to
   * false.
   */
  readonly variadic?: boolean | undefined;
}

/** CommandArguments are the arguments of a command by name, in positional order. */
export type CommandArguments = Readonly<Record<string, CommandArgument>>;

/** ArgumentValues holds the values of a command's arguments. */
export type ArgumentValues<A extends CommandArguments> = {
  readonly [K in keyof A]: A[K] extends { readonly variadic: true }
    ? readonly string[]
    : A[K] extends { readonly optional: true }
      ? string | undefined
      : string;
};

/** CommandCluster is the cluster that a command works in, selected with `--kubeconfig` and `--context`. */
export interface CommandCluster {
  /** Has the rights of the user who runs the command. Closed when the command has ended. */
  readonly client: Client;
  /**
   * The namespace that `-n` or `--namespace` selects. Defaults to the manager's namespace; if the command is declared
   * with `namespace: 'objects'`, to that of the kubeconfig's context, else to `default`.
   */
  readonly namespace: string;
  /**
   * The manager's namespace. Defaults to the namespace of the pod that runs the command, else to the default namespace
   * of the CLI, which is `bowline-system` for `bowline`.
   */
  readonly managerNamespace: string;
}

/** CommandContext is passed to a command. */
export interface CommandContext<
  Options,
  Args = Readonly<Record<never, never>>,
  Cluster = undefined,
  Inputs = Readonly<Record<never, never>>,
> {
  /** The options of the command line, with defaults applied, validated. */
  readonly options: Options;
  /** The positional arguments, by their declared names. */
  readonly args: Args;
  /** The contents of the declared inputs. */
  readonly inputs: Inputs;
  /** Undefined unless the command is declared with `cluster: true`. */
  readonly cluster: Cluster;
  readonly terminal: CommandTerminal;
  /**
   * print writes a line to standard output. In a command with an `output` it writes to standard error, so that
   * programs can read the data.
   */
  readonly print: (line: string) => void;
  /** printTable writes rows where `print` writes, for data that is not the result of the command. */
  readonly printTable: <Row>(rows: readonly Row[], columns: readonly CommandColumn<Row>[]) => void;
  readonly log: Log;
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal;
}

/**
 * Command is a subcommand of the CLI that belongs to an operator: an agent, a migration, a check. Its options are a
 * schema, from which flags, their help and their validation are derived.
 */
export interface Command {
  /** One or more DNS labels separated by blanks, unique in its operator. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  readonly args: CommandArguments;
  readonly options: ObjectSchema<FieldSchemas> | undefined;
  readonly flags: CommandFlags;
  readonly inputs: CommandInputs;
  readonly output: CommandOutput<never> | undefined;
  /** Whether it works in a cluster. */
  readonly cluster: boolean;
  readonly namespace: CommandNamespace;
  readonly hidden: boolean;
  readonly longRunning: boolean;
  /** Untyped here: `command` checked the function against the types of its context. */
  readonly run: (context: CommandContext<never, never, never, never>) => Promise<unknown>;
}

/** CommandNamespace selects the meaning of `--namespace`: the manager's namespace, or that of the command's objects. */
export type CommandNamespace = 'manager' | 'objects';

/** CommandResult is what a command returns: nothing, or the data that its `output` prints. */
export type CommandResult<Row> = [Row] extends [never] ? Promise<void> : Promise<Row | readonly Row[]>;

/** CommandDefinition declares a command; see `command`. */
export interface CommandDefinition<
  S extends FieldSchemas,
  A extends CommandArguments,
  C extends boolean,
  I extends CommandInputs,
  Row,
> {
  /** Several words declare a command in a group: `mock set` is `bowline <operator> mock set`. */
  readonly name: string;
  readonly summary: string;
  /** Defaults to none. */
  readonly args?: A | undefined;
  /** Never secrets: use `inputs`. Defaults to none. */
  readonly options?: ObjectSchema<S> | undefined;
  /** Configures flags by the names of their options. Defaults to what the schema describes. */
  readonly flags?: { readonly [K in keyof NoInfer<S>]?: CommandFlag | undefined } | undefined;
  /** Content from files, standard input or hidden prompts. Defaults to none. */
  readonly inputs?: I | undefined;
  /** Declares that it returns data, which the program prints. Defaults to none: it returns nothing. */
  readonly output?: CommandOutput<Row> | undefined;
  /** Whether it works in a cluster: it then takes flags that select the cluster. Defaults to false. */
  readonly cluster?: C | undefined;
  /**
   * What `--namespace` selects. With `objects`, the manager's namespace is selected by `--manager-namespace`. Defaults
   * to `manager`.
   */
  readonly namespace?: CommandNamespace | undefined;
  /** Whether the help omits it. Defaults to false. */
  readonly hidden?: boolean | undefined;
  /**
   * Whether it runs until the process is asked to stop, such as an agent. A signal then ends it with exit code 0;
   * other commands end with exit code 1 if a signal interrupts them. Defaults to false.
   */
  readonly longRunning?: boolean | undefined;
  readonly run: (
    context: CommandContext<
      Read<ObjectSchema<S>>,
      ArgumentValues<A>,
      C extends true ? CommandCluster : undefined,
      InputValues<I>
    >,
  ) => CommandResult<NoInfer<Row>>;
}

/**
 * command declares a subcommand of an operator. Options, arguments, inputs and the returned data are typed by their
 * declarations.
 *
 * @example
 * command({
 *   name: 'devices',
 *   summary: 'Lists the devices of a node.',
 *   options: s.object({ nodeName: s.string() }),
 *   flags: { nodeName: { env: 'NODE_NAME' } },
 *   output: { columns: [{ name: 'Serial', value: ({ serial }: Device) => serial }] },
 *   run: async ({ options }) => await devicesOf(options.nodeName),
 * });
 *
 * @example
 * command({
 *   name: 'rotate-pin',
 *   summary: 'Changes the PIN.',
 *   inputs: { pin: { summary: 'the new PIN', prompt: 'New PIN', maxBytes: 64 } },
 *   run: async ({ inputs, signal }) => await changePin(inputs.pin, signal),
 * });
 */
export function command<
  S extends FieldSchemas = Record<never, never>,
  const A extends CommandArguments = Readonly<Record<never, never>>,
  const C extends boolean = false,
  const I extends CommandInputs = Readonly<Record<never, never>>,
  Row = never,
>(definition: CommandDefinition<S, A, C, I, Row>): Command {
  const { name, summary, args = {}, options, flags = {}, inputs = {}, output, run } = definition;
  const { cluster = false, namespace = 'manager', hidden = false, longRunning = false } = definition;
  return Object.freeze({
    name,
    summary,
    args,
    // The function was checked against the declared options, arguments, inputs and cluster.
    options: options as never,
    flags,
    inputs,
    output,
    cluster,
    namespace,
    hidden,
    longRunning,
    run,
  });
}

/** Sample is an object that demonstrates an operator. */
export interface Sample extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}
