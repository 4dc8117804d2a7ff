import type { Registry } from './operators/registry.ts';
import { runProgram } from './program.ts';
import { exitWhenClosed } from './terminal/closed-pipe.ts';
import { processIo } from './terminal/io.ts';
import { report } from './terminal/report.ts';

/** runMain runs the command line in this process, with its arguments and its exit code. */
export async function runMain(registry: Registry): Promise<void> {
  exitWhenClosed(process.stdout);
  process.exitCode = await runProgram(process.argv.slice(2), registry, processIo, process.argv[1]);
}

/** fail reports an error as the command line does. */
export function fail(error: unknown): void {
  process.exitCode = report(error, processIo);
}
