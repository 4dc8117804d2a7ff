import type { KubernetesObject } from '@bowline/kubernetes';
import { type Log, runUntilSignal } from '@bowline/runtime';
import { connect, createClient } from '@bowline/runtime/client';
import {
  type CommandCluster,
  type CommandColumn,
  type CommandContext,
  type CommandOutput,
  type CommandTerminal,
  createLog,
  type LogLevel,
  type Command as OperatorCommand,
} from '@bowline/runtime/manager';
import { type ClusterOptions, findCluster } from '../cluster/connect-cluster.ts';
import { DEFAULT_NAMESPACE } from '../install/names.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { type OutputFormat, printValue } from '../terminal/output-format.ts';
import { formatTable } from '../terminal/table.ts';
import { askHidden, readInputs, terminalMissing } from './operator-command-inputs.ts';
import { type ParsedFlags, readOptions } from './operator-command-options.ts';

/** ParsedCommand is a command of an operator with its command line. */
export interface ParsedCommand extends ParsedFlags {
  readonly operator: { readonly name: string };
  readonly args: Readonly<Record<string, unknown>>;
}

/** The flags that the program adds to the commands of operators. */
interface ProgramFlags extends ClusterOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
  readonly output?: OutputFormat | undefined;
  readonly namespace?: string | undefined;
  readonly managerNamespace?: string | undefined;
}

/** Answers to the questions of `CommandTerminal` are lines, not documents. */
const MAX_ANSWER_BYTES = 4096;

/** runOperatorCommand runs a command of an operator until it ends or a signal stops it, and prints what it returns. */
export async function runOperatorCommand(command: ParsedCommand, io: Io): Promise<void> {
  const { declared, operator, parsed, args } = command;
  // A kubectl plugin also accepts the flags of the cluster before the name of the command.
  const given = parsed.optsWithGlobals<ProgramFlags>();
  const options = readOptions(command, io.env);
  // Standard output belongs to the data that a command returns.
  const print = declared.output ? io.err : io.out;
  const log = createLog({
    level: given.logLevel,
    format: given.logFormat,
    ...(declared.output ? { destination: { write: io.err } } : {}),
  }).with({ operator: operator.name, command: declared.name });
  const result = await untilSignal(declared, async (signal) => {
    using inputs = await readInputs(declared.inputs, parsed, io, signal);
    const context: Omit<Context, 'cluster'> = {
      ...{ options, args, inputs: inputs.values, log, signal },
      terminal: terminalOf(io, signal),
      print: (line: string) => print(`${line}\n`),
      printTable: (rows, columns) => print(tableOf(rows, columns)),
    };
    if (!declared.cluster) return await start(declared, { ...context, cluster: undefined });
    await using cluster = await connectCluster(given, declared, io, log);
    return await start(declared, { ...context, cluster });
  });
  if (declared.output) await printResult(result, declared.output, given.output, io);
}

type Context = CommandContext<unknown, unknown, CommandCluster | undefined, unknown>;

function start({ run }: OperatorCommand, context: Context): Promise<unknown> {
  // The values that were read match the types that `command` checked the function against; the types were erased there.
  return run(
    context as CommandContext<unknown, unknown, unknown, unknown> as CommandContext<never, never, never, never>,
  );
}

/** untilSignal runs a command. An agent that a signal stops has done its work; any other command is incomplete. */
async function untilSignal(
  { longRunning }: OperatorCommand,
  run: (signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  if (!longRunning) {
    using interruption = listenForInterrupt();
    const { signal } = interruption;
    return await run(signal).catch((error: unknown) => {
      throw isAbort(error, signal) ? signal.reason : error;
    });
  }
  return await runUntilSignal((signal) =>
    run(signal).catch((error: unknown) => {
      if (!isAbort(error, signal)) throw error;
    }),
  );
}

/** isAbort reports whether an error is the reason of an aborted signal, or what functions of Node throw instead. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

function terminalOf(io: Io, signal: AbortSignal): CommandTerminal {
  return {
    async ask(question, { alternative }) {
      const answer = await io.ask(question, signal);
      if (answer === undefined) throw terminalMissing(question, alternative);
      return answer;
    },
    askSecret: (question, { alternative }) =>
      askHidden(io, { question, alternative, maxBytes: MAX_ANSWER_BYTES, signal }),
  };
}

async function connectCluster(
  given: ProgramFlags,
  { namespace: meaning }: OperatorCommand,
  { env }: Io,
  log: Log,
): Promise<CommandCluster & AsyncDisposable> {
  const { config, isPod } = await findCluster(given, env, log);
  const client = createClient({ transport: connect(config, { log }), log });
  const selected = meaning === 'manager' ? given.namespace : given.managerNamespace;
  const managerNamespace = selected ?? (isPod ? config.namespace : undefined) ?? DEFAULT_NAMESPACE;
  return {
    client,
    namespace: meaning === 'manager' ? managerNamespace : (given.namespace ?? config.namespace ?? 'default'),
    managerNamespace,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function printResult(
  result: unknown,
  { columns, empty, manifests, failure }: CommandOutput<never>,
  format: OutputFormat = manifests ? 'yaml' : 'table',
  io: Io,
): Promise<void> {
  const rows: readonly unknown[] = Array.isArray(result) ? result : [result];
  if (manifests && format !== 'table') {
    const { printObjects } = await import('../manifests/print-objects.ts');
    io.out(printObjects(rows as readonly KubernetesObject[], format));
  } else if (rows.length === 0 && format === 'table') io.err(`${empty ?? 'Nothing found.'}\n`);
  else io.out(await printValue(result, format, () => tableOf(rows, columns)));
  // `command` checked the function against the rows.
  const error = failure?.(rows as readonly never[]);
  if (error) throw error;
}

function tableOf(rows: readonly unknown[], columns: readonly CommandColumn<never>[]): string {
  const filled = columns
    // `command` checked the columns against the rows.
    .map(({ name, value }) => ({ name, cells: rows.map((row) => value(row as never)) }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined));
  return formatTable(
    filled.map(({ name }) => name),
    rows.map((_, at) => filled.map(({ cells }) => String(cells[at] ?? ''))),
  );
}
