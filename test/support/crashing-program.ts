import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledProgram } from './bundled-program.ts';

/** Throws an error that cannot be caught, when the process receives a signal. */
const CRASHING = `data:text/javascript,process.on('SIGUSR2', () => { throw new Error('a crash on purpose') })`;

/** CrashingProgram is the command line as shipped, in a process that can be made to crash. */
export interface CrashingProgram extends AsyncDisposable {
  readonly pid: number;
  /** output returns everything that it has printed. */
  output(): string;
  /** stop sends a signal, and returns the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
  /** crash makes it throw, and returns everything that it printed, with the report that Node writes about a crash. */
  crash(): Promise<string>;
}

/** CrashingProgramOptions configures a program that can be made to crash. */
export interface CrashingProgramOptions {
  /** Where it runs, and where reports about crashes are written. */
  readonly folder: string;
  readonly args: readonly string[];
  /** Relative to the repository. Defaults to `bowline`. */
  readonly entry?: string | undefined;
  /** Added to the environment of this process. Defaults to nothing. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** startCrashing starts a program that can be made to crash. Disposing of it kills the process. */
export async function startCrashing(options: CrashingProgramOptions): Promise<CrashingProgram> {
  const { folder, args, entry = 'apps/bowline/src/main.ts', env } = options;
  const main = await bundledProgram(entry);
  const reports = ['--report-uncaught-exception', '--report-on-fatalerror', `--report-directory=${folder}`];
  const child = spawn(process.execPath, [...reports, '--import', CRASHING, main, ...args], {
    cwd: folder,
    env: { ...process.env, KUBECONFIG: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk));
  const ended = once(child, 'close') as Promise<[number | null]>;
  const output = (): string => Buffer.concat(printed).toString();
  const stop = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await ended)[0];
  };
  return {
    pid: child.pid ?? 0,
    output,
    stop,
    crash: async () => {
      await stop('SIGUSR2');
      const files = (await readdir(folder)).filter((file) => file.startsWith('report.'));
      const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
      return [output(), ...texts].join('\n');
    },
    [Symbol.asyncDispose]: async () => {
      await stop('SIGKILL');
    },
  };
}
