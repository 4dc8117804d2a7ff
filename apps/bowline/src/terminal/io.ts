import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { type Colors, colorsFor } from './colors.ts';
import { readHiddenLine } from './hidden-line.ts';
import { interruptedBy } from './interrupt.ts';

/** HiddenQuestion limits the answer to a question, and the time to answer it. */
export interface HiddenQuestion {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Io connects a command to its user. */
export interface Io {
  /** out prints a result. */
  out(text: string): void;
  /** err prints progress and errors. */
  err(text: string): void;
  /** ask asks a question on the terminal; it returns undefined if there is no terminal. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  /**
   * askHidden asks a question and reads the answer without displaying it. It returns `no-terminal` if there is no
   * terminal, and `too-long` for a longer answer.
   */
  askHidden(question: string, options: HiddenQuestion): Promise<Buffer | 'no-terminal' | 'too-long'>;
  /** stdin returns standard input, as bytes. */
  stdin(): Readable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** colors holds the colours for what out and err print. */
  readonly colors: { readonly out: Colors; readonly err: Colors };
}

/** processIo uses the streams and the environment of the process. */
export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async ask(question, signal) {
    if (!hasTerminal()) return undefined;
    // On standard error, so that standard output can be redirected.
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question, signal ? { signal } : {});
    } catch (error) {
      // Ctrl-C is no signal here: the terminal is in raw mode, and readline rejects with an error of its own.
      const isCtrlC = error instanceof Error && error.name === 'AbortError' && !signal?.aborted;
      throw isCtrlC ? interruptedBy('SIGINT') : error;
    } finally {
      lines.close();
    }
  },
  async askHidden(question, options) {
    if (!hasTerminal()) return 'no-terminal';
    const interrupt = (): void => void process.kill(process.pid, 'SIGINT');
    const { stdin: input, stderr: output } = process;
    return (await readHiddenLine(question, { ...options, input, output, interrupt })) ?? 'too-long';
  },
  stdin: () => process.stdin,
  env: process.env,
  colors: { out: colorsFor(process.stdout, process.env), err: colorsFor(process.stderr, process.env) },
};

function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
