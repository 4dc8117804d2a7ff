import type { KubernetesObject } from '@bowline/kubernetes';
import type { FieldSchemas, ObjectSchema, Read } from '@bowline/machinery/schema';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';

/** CommandArgument is a word that a command takes without a flag before it. */
export interface CommandArgument {
  /** One line for the help. */
  readonly summary: string;
  /** What stands for it in the example of the help; of a variadic one several words. Defaults to its name in capitals. */
  readonly example?: string | undefined;
  /** Whether it may be left out. Defaults to false. */
  readonly optional?: boolean | undefined;
  /** Whether it takes all the words that are left, at least one unless it is optional. Only the last can. Defaults to false. */
  readonly variadic?: boolean | undefined;
}

/** CommandArguments are the arguments of a command by name, in the order in which they are written. */
export type CommandArguments = Readonly<Record<string, CommandArgument>>;

/** ArgumentValues is what a command gets for its arguments. */
export type ArgumentValues<A extends CommandArguments> = {
  readonly [K in keyof A]: A[K] extends { readonly variadic: true }
    ? readonly string[]
    : A[K] extends { readonly optional: true }
      ? string | undefined
      : string;
};

/** CommandCluster is the cluster that a command works in: that of `--kubeconfig` and `--context`. */
export interface CommandCluster {
  /** With the rights of whoever runs the command. Closed when the command has ended. */
  readonly client: Client;
  /** The manager's namespace: that of `--namespace`, else the pod's own, else `bowline-system`. */
  readonly namespace: string;
}

/** CommandContext is what a command gets. */
export interface CommandContext<Options, Args = Readonly<Record<never, never>>, Cluster = undefined> {
  /** The command line's options, with defaults filled in and checked. */
  readonly options: Options;
  /** The words without a flag, by the names that they were declared with. */
  readonly args: Args;
  /** Undefined unless the command is declared with `cluster: true`. */
  readonly cluster: Cluster;
  /** print writes a line of the command's answer on standard output. */
  readonly print: (line: string) => void;
  readonly log: Log;
  /** Aborted when the process is told to stop. */
  readonly signal: AbortSignal;
}

/**
 * Command is a subcommand of the CLI that belongs to an operator: an agent, a migration, a check. Its options are a schema, so
 * that flags, their help and their checks follow from it.
 */
export interface Command {
  /** One or more DNS labels with blanks between them, unique in its operator. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  readonly args: CommandArguments;
  readonly options: ObjectSchema<FieldSchemas> | undefined;
  /** Whether it works in a cluster. */
  readonly cluster: boolean;
  /** Untyped here: `command` held the function and the types of what it gets together. */
  readonly run: (context: CommandContext<never, never, never>) => Promise<void>;
}

/**
 * command declares a subcommand of an operator.
 *
 * @example
 * command({ name: 'agent', summary: 'Run beside the gateway', options: s.object({ port: s.integer().default(8080) }), run: async ({ options, signal }) => { … } });
 */
export function command<
  S extends FieldSchemas = Record<never, never>,
  const A extends CommandArguments = Readonly<Record<never, never>>,
  const C extends boolean = false,
>(definition: {
  /** Several words are a command in a group: `mock set` is `bowline <operator> mock set`. */
  readonly name: string;
  readonly summary: string;
  /** Defaults to none. */
  readonly args?: A | undefined;
  /** Defaults to none. */
  readonly options?: ObjectSchema<S> | undefined;
  /** Whether it works in a cluster: it then takes flags that say in which one. Defaults to false. */
  readonly cluster?: C | undefined;
  readonly run: (
    context: CommandContext<Read<ObjectSchema<S>>, ArgumentValues<A>, C extends true ? CommandCluster : undefined>,
  ) => Promise<void>;
}): Command {
  const { name, summary, args = {}, options, cluster = false, run } = definition;
  // What the declarations say of options, arguments and cluster is what the function was checked against.
  return Object.freeze({ name, summary, args, options: options as never, cluster, run });
}

/** Sample is an object that shows an operator at work. */
export interface Sample extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}
