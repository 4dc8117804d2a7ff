import { createInterface } from 'node:readline/promises';
import { type Colors, colorsFor } from './colors.ts';

/** Io connects a command to its user. */
export interface Io {
  /** out prints a result. */
  out(text: string): void;
  /** err prints progress and errors. */
  err(text: string): void;
  /** ask asks a question on the terminal; it returns undefined if there is no terminal. */
  ask(question: string): Promise<string | undefined>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** colors holds the colours for what out and err print. */
  readonly colors: { readonly out: Colors; readonly err: Colors };
}

/** processIo uses the streams and the environment of the process. */
export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async ask(question) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
    // On standard error, so that standard output can be redirected.
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
  env: process.env,
  colors: { out: colorsFor(process.stdout, process.env), err: colorsFor(process.stderr, process.env) },
};
