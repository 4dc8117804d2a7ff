import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { waitFor } from '../../packages/control-plane/src/testing/wait-for.ts';

/** Readiness is how a program shows that it is ready. */
type Readiness =
  | {
      /** A part of the line that it prints when it is ready. */
      readonly readyLine: string;
    }
  | {
      /** Called again and again until it resolves to true, or a limit for programs that hang is reached. */
      readonly isReady: () => Promise<boolean>;
    };

/** ProgramOptions configures the program and how its readiness is detected. */
export type ProgramOptions = Readiness & {
  /** For messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Its whole environment: nothing is inherited. */
  readonly env: NonNullable<SpawnOptions['env']>;
  /** The user and group that it runs as. Defaults to those of this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
};

/** RunningProgram is a program that was started; disposing of it stops it. */
export interface RunningProgram extends AsyncDisposable {
  /** lastLines returns the last lines that it printed. */
  lastLines(): string;
}

/** Enough to explain why it exited. */
const MAX_LINES = 40;

/**
 * startProgram runs a third-party server and resolves when it is ready; disposing of it stops it. It exits with this process; if
 * it exits when its standard input closes, it does so however this process ends.
 */
export async function startProgram(options: ProgramOptions): Promise<RunningProgram> {
  const { name, program, args, env, user } = options;
  const child = spawn(program, args, { env, ...user, stdio: ['pipe', 'pipe', 'pipe'] });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const gone = once(child, 'close');
  const lines: string[] = [];
  const lastLines = (): string => lines.join('\n');
  const failed = new AbortController();
  const printed = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > MAX_LINES) lines.shift();
        if ('readyLine' in options && line.includes(options.readyLine)) resolve();
      });
    }
  });
  const ready = 'isReady' in options ? waitFor(`${name} to be ready`, () => options.isReady(), failed.signal) : printed;
  const stop = async (): Promise<void> => {
    end();
    await gone;
    process.removeListener('exit', end);
  };
  const ended = gone.then(() => {
    throw new Error(`${name} exited before it was ready`);
  });
  try {
    await Promise.race([ready, ended]);
  } catch (cause) {
    failed.abort();
    await stop();
    // A check may still be running; a line is no longer printed.
    if (ready !== printed) await ready.catch(() => undefined);
    throw new Error(`cannot start ${name}: ${cause instanceof Error ? cause.message : String(cause)}\n${lastLines()}`, {
      cause,
    });
  }
  // If it exits later, its users notice by themselves.
  ended.catch(() => undefined);
  return { lastLines, [Symbol.asyncDispose]: stop };
}
