import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';

/** Throws an error that cannot be caught, when the process receives a signal. */
const CRASHING = `data:text/javascript,process.on('SIGUSR2', () => { throw new Error('a crash on purpose') })`;

/** CrashingOperator is the command line as shipped, in a process that can be made to crash. */
export interface CrashingOperator extends AsyncDisposable {
  /** crash makes it throw, and returns everything that it printed, with the report that Node writes about a crash. */
  crash(): Promise<string>;
}

/** startCrashing runs `bowline` with these arguments, and writes the files that it needs into a folder. */
export async function startCrashing(folder: string, args: readonly string[]): Promise<CrashingOperator> {
  const main = await bundledProgram('apps/bowline/src/main.ts');
  const reports = ['--report-uncaught-exception', `--report-directory=${folder}`];
  const child = spawn(process.execPath, [...reports, '--import', CRASHING, main, ...args], {
    env: { ...process.env, KUBECONFIG: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk));
  const ended = once(child, 'close');
  return {
    crash: async () => {
      child.kill('SIGUSR2');
      await ended;
      const files = (await readdir(folder)).filter((file) => file.startsWith('report.'));
      const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
      return [Buffer.concat(printed).toString(), ...texts].join('\n');
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
