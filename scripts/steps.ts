import { spawn } from 'node:child_process';
import { repositoryRoot } from './repository.ts';

/** Step is one named part of a longer command. */
export interface Step {
  readonly name: string;
  /** run resolves to undefined on success, otherwise to the text to print. */
  run(): Promise<string | undefined>;
}

/** command returns a step that runs a program and prints its output only if it fails. */
export function command(name: string, program: string, args: readonly string[]): Step {
  return {
    name,
    run: () =>
      new Promise((resolve) => {
        const child = spawn(program, args, { cwd: repositoryRoot, stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';
        child.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
        child.stderr.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
        child.on('error', (error) => resolve(`${program} could not be started: ${error.message}`));
        child.on('close', (code) => resolve(code === 0 ? undefined : output || `exit code ${code}`));
      }),
  };
}

/** runSteps runs every step, one after the other, even after a failure, and returns how many failed. */
export async function runSteps(steps: readonly Step[]): Promise<number> {
  let failed = 0;
  for (const step of steps) {
    const start = performance.now();
    const problem = await step.run();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${problem === undefined ? 'ok  ' : 'FAIL'} ${step.name} (${seconds} s)`);
    if (problem !== undefined) {
      failed++;
      console.log(problem.trimEnd());
    }
  }
  return failed;
}
