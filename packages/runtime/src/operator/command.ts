import type { KubernetesObject } from '@bowline/kubernetes';
import type { FieldSchemas, ObjectSchema, Read } from '@bowline/machinery/schema';
import type { Log } from '../observability/log.ts';

/** CommandContext is what a command gets. */
export interface CommandContext<Options> {
  /** The command line's options, with defaults filled in and checked. */
  readonly options: Options;
  readonly log: Log;
  /** Aborted when the process is told to stop. */
  readonly signal: AbortSignal;
}

/**
 * Command is a subcommand of the CLI that belongs to an operator: an agent, a migration, a check. Its options are a schema, so
 * that flags, their help and their checks follow from it.
 */
export interface Command {
  /** A DNS label, unique in its operator. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  readonly options: ObjectSchema<FieldSchemas> | undefined;
  /** Untyped here: `command` held the function and the type of its options together. */
  readonly run: (context: CommandContext<never>) => Promise<void>;
}

/**
 * command declares a subcommand of an operator.
 *
 * @example
 * command({ name: 'agent', summary: 'Run beside the gateway', options: s.object({ port: s.integer().default(8080) }), run: async ({ options, signal }) => { … } });
 */
export function command<S extends FieldSchemas = Record<never, never>>(definition: {
  readonly name: string;
  readonly summary: string;
  /** Defaults to none. */
  readonly options?: ObjectSchema<S> | undefined;
  readonly run: (context: CommandContext<Read<ObjectSchema<S>>>) => Promise<void>;
}): Command {
  const { name, summary, options, run } = definition;
  // What the schema says of the options is what the function was checked against.
  return Object.freeze({ name, summary, options: options as never, run });
}

/** Sample is an object that shows an operator at work. */
export interface Sample extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}
