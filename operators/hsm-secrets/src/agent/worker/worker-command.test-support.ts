import { fileURLToPath } from 'node:url';
import type { WorkerCommand } from './worker-process.ts';

/** sourceCommand returns the command that runs a TypeScript file of this folder as a worker. */
export function sourceCommand(file: string): WorkerCommand {
  const main = fileURLToPath(new URL(file, import.meta.url));
  return { program: process.execPath, args: ['--conditions=@bowline/source', '--import=tsx', main] };
}

/** fakeWorker runs a worker that hangs or crashes on request. */
export const fakeWorker: WorkerCommand = sourceCommand('./fake-worker.test-support.ts');

/** realWorker runs the worker of the agent. */
export const realWorker: WorkerCommand = sourceCommand('./worker-program.test-support.ts');
