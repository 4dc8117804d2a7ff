import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** ProgramOptions configures the program and how its readiness is detected. */
export interface ProgramOptions {
  /** For messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Its whole environment: nothing is inherited. */
  readonly env: NonNullable<SpawnOptions['env']>;
  /** A part of the line that it prints when it is ready. */
  readonly readyLine: string;
}

/** Enough to explain why it exited. */
const MAX_LINES = 40;

/**
 * startProgram runs a third-party server and resolves when it is ready; disposing of it stops it. It exits with this process; if
 * it exits when its standard input closes, it does so however this process ends.
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
        if (lines.length > MAX_LINES) lines.shift();
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
    throw new Error(`${name} exited before it was ready\n${lines.join('\n')}`);
  });
  await Promise.race([started, ended]).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  // If it exits later, its users notice by themselves.
  ended.catch(() => undefined);
  return { [Symbol.asyncDispose]: stop };
}
