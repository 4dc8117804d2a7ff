import { execFile } from 'node:child_process';

/** ProgramOptions configures the folder and the environment of a program. */
export interface ProgramOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Defaults to 10 minutes. */
  readonly timeoutMs?: number;
}

/** runProgram runs a program to its end and returns its output; the first line of an error names the program. */
export function runProgram(file: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const { cwd, env, timeoutMs = 600_000 } = options;
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd, env, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${file} ${args[0] ?? ''} failed\n${stderr.slice(-4_000)}`, { cause: error }));
    });
  });
}
