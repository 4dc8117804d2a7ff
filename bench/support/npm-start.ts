import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ownEnvironment } from './installed-program.ts';

/** NpmStart is how long `npm start` took. */
export interface NpmStart {
  /** From the start of npm to the line that reports that every sample is ready. */
  readonly ms: number;
  /** The time reported by `bowline up` itself. */
  readonly ownMs: number;
}

/**
 * npmStart runs `npm start` in a folder with an installed program; it exits by itself, at the latest after its own timeout. `args`
 * are further arguments of `bowline up`.
 */
export async function npmStart(folder: string, args: readonly string[] = []): Promise<NpmStart> {
  const begun = performance.now();
  const command = ['start', '--silent', '--', '--exit-when-ready', '--timeout', '60s', '--json', ...args];
  const child = spawn('npm', command, { cwd: folder, env: ownEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close') as Promise<[number | null]>;
  let started: NpmStart | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const { ready, readyMs } = JSON.parse(line) as { readonly ready: boolean; readonly readyMs: number };
    if (ready) started = { ms: performance.now() - begun, ownMs: readyMs };
  }
  const [code] = await ended;
  if (code !== 0 || started === undefined) throw new Error(`npm start exited with ${code} before it was ready`);
  return started;
}
