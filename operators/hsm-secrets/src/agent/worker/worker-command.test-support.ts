import { bundledProgram } from '../../../../../test/support/bundled-program.ts';
import type { WorkerCommand } from './worker-process.ts';

/** fakeWorker returns the command of a worker that hangs or crashes on request. */
export function fakeWorker(): Promise<WorkerCommand> {
  return commandOf('fake-worker.test-support.ts');
}

/** realWorker returns the command of the worker of the agent. */
export function realWorker(): Promise<WorkerCommand> {
  return commandOf('worker-program.test-support.ts');
}

/** Bundled as in a release, because the tests start many of them. */
async function commandOf(file: string): Promise<WorkerCommand> {
  return { program: process.execPath, args: [await bundledProgram(`operators/hsm-secrets/src/agent/worker/${file}`)] };
}
