import { createInterface } from 'node:readline/promises';
import { type Colors, colorsFor } from './colors.ts';

/** Io is what a command has to do with whoever started it. */
export interface Io {
  /** out prints a result. */
  out(text: string): void;
  /** err prints progress and errors. */
  err(text: string): void;
  /** ask puts a question on the terminal; undefined where there is none. */
  ask(question: string): Promise<string | undefined>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** colors paint what out and err print. */
  readonly colors: { readonly out: Colors; readonly err: Colors };
}

/** processIo is the process's own. */
export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async ask(question) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
    // On standard error, so that the result can be sent elsewhere.
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
