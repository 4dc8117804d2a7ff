import type { KubernetesObject } from '@bowline/kubernetes';
import type { FieldSchemas, ObjectSchema, Read } from '@bowline/machinery/schema';
import type { Client } from '../client/client.ts';
import type { Log } from '../observability/log.ts';

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
   * The manager's namespace: `--namespace`, else the namespace of the pod that runs the command, else the default
   * namespace of the CLI, which is `bowline-system` for `bowline`.
   */
  readonly namespace: string;
}

/** CommandContext is passed to a command. */
export interface CommandContext<Options, Args = Readonly<Record<never, never>>, Cluster = undefined> {
  /** The options of the command line, with defaults applied, validated. */
  readonly options: Options;
  /** The positional arguments, by their declared names. */
  readonly args: Args;
  /** Undefined unless the command is declared with `cluster: true`. */
  readonly cluster: Cluster;
  /** print writes a line of the command's output to standard output. */
  readonly print: (line: string) => void;
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
  /** Whether it works in a cluster. */
  readonly cluster: boolean;
  /** Untyped here: `command` checked the function against the types of its context. */
  readonly run: (context: CommandContext<never, never, never>) => Promise<void>;
}

/**
 * command declares a subcommand of an operator.
 *
 * @example
 * command({ name: 'agent', summary: 'Run beside the gateway', options: s.object({ port: s.integer().default(8080) }),
 * run: async ({ options, signal }) => { … } });
 */
export function command<
  S extends FieldSchemas = Record<never, never>,
  const A extends CommandArguments = Readonly<Record<never, never>>,
  const C extends boolean = false,
>(definition: {
  /** Several words declare a command in a group: `mock set` is `bowline <operator> mock set`. */
  readonly name: string;
  readonly summary: string;
  /** Defaults to none. */
  readonly args?: A | undefined;
  /** Defaults to none. */
  readonly options?: ObjectSchema<S> | undefined;
  /** Whether it works in a cluster: it then takes flags that select the cluster. Defaults to false. */
  readonly cluster?: C | undefined;
  readonly run: (
    context: CommandContext<Read<ObjectSchema<S>>, ArgumentValues<A>, C extends true ? CommandCluster : undefined>,
  ) => Promise<void>;
}): Command {
  const { name, summary, args = {}, options, cluster = false, run } = definition;
  // The function was checked against the declared options, arguments and cluster.
  return Object.freeze({ name, summary, args, options: options as never, cluster, run });
}

/** Sample is an object that demonstrates an operator. */
export interface Sample extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}
