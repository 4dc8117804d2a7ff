import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** ProgramOptions say what is started, and how it is known that it serves. */
export interface ProgramOptions {
  /** For messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** All of its environment: nothing of the tester's own is meant. */
  readonly env: NonNullable<SpawnOptions['env']>;
  /** A part of the line that it writes when it serves. */
  readonly readyLine: string;
}

/** Enough to say why it ended. */
const LINES_KEPT = 40;

/**
 * startProgram runs a server that we did not write, and resolves when it serves; disposing of it ends it. It ends with this
 * process, and where it ends with its standard input, which is held open, however this process ends.
 */
export async function startProgram(options: ProgramOptions): Promise<AsyncDisposable> {
  const { name, program, args, env, readyLine } = options;
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const gone = once(child, 'close');
  const lines: string[] = [];
  const started = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > LINES_KEPT) lines.shift();
        if (line.includes(readyLine)) resolve();
      });
    }
  });
  const stop = async (): Promise<void> => {
    end();
    await gone;
    process.removeListener('exit', end);
  };
  const ended = gone.then(() => {
    throw new Error(`${name} ended before it was ready\n${lines.join('\n')}`);
  });
  await Promise.race([started, ended]).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  // When it ends later, its users notice by themselves.
  ended.catch(() => undefined);
  return { [Symbol.asyncDispose]: stop };
}
