import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { ChildResult, ChildTask } from './child-task.ts';

/** AgentRun is how an agent process ended. */
export type AgentRun = { readonly isKilled: true } | ({ readonly isKilled: false } & ChildResult);

/** AgentOptions configures an agent process. */
export interface AgentOptions {
  /** The bundled program. */
  readonly program: string;
  /** The file for the task. */
  readonly taskFile: string;
  /** Kills the process this long after it started its work. Defaults to never. */
  readonly killAfterMs?: number | undefined;
}

/** runAgent runs an agent process until it ends or is killed. */
export async function runAgent(task: ChildTask, { program, taskFile, killAfterMs }: AgentOptions): Promise<AgentRun> {
  writeFileSync(taskFile, JSON.stringify(task));
  const child = spawn(process.execPath, [program, taskFile], { stdio: ['ignore', 'pipe', 'pipe'] });
  let timer: NodeJS.Timeout | undefined;
  if (killAfterMs !== undefined) {
    child.stdout.once('data', () => {
      timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    });
  }
  const [output, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  clearTimeout(timer);
  if (signal === 'SIGKILL') return { isKilled: true };
  if (code !== 0) throw new Error(`the agent failed with ${String(code ?? signal)}: ${errors.slice(-4_000)}`);
  return { isKilled: false, ...(JSON.parse(output.slice(output.indexOf('\n'))) as ChildResult) };
}
