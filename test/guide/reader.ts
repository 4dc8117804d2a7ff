import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { normalised, sameOutput, stepsOf, withOutputs } from './console-blocks.ts';

/** ReaderOptions configures where the commands of pages run. */
export interface ReaderOptions {
  readonly cwd: string;
  /** A folder of programs that is put at the front of the PATH. */
  readonly programs: string;
  /** Additional environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The command that runs in the background: its output only has to contain the lines that its page shows. */
  readonly background: string;
  /** ready resolves when the background command is ready for the next commands of the page. */
  readonly ready: (reader: Reader) => Promise<void>;
}

const isRead = (command: string): boolean =>
  /^(kubectl (get|describe|explain|auth|events)|bowline \S+ status)\b/.test(command);

/** Reader runs the commands of pages in order, and compares their output with what the pages show. */
export class Reader implements AsyncDisposable {
  readonly #options: ReaderOptions;
  readonly #env: NodeJS.ProcessEnv;
  readonly #claimed: string[] = [];
  #logged = '';
  #stop = (): Promise<unknown> => Promise.resolve();

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#env = environmentOf(options);
  }

  /** run returns the output of a command, and throws if it fails. It is asynchronous because this process may simulate the nodes. */
  async run(command: string): Promise<string> {
    const { cwd } = this.#options;
    const env = this.#env;
    const { stdout } = await promisify(execFile)('bash', ['-c', `{ ${command}\n} 2>&1`], { cwd, env });
    return stdout;
  }

  /** logged returns the output of the background command so far. */
  logged(): string {
    return this.#logged;
  }

  /** read runs the commands of a page and compares their output with the page. `-u` updates the page. */
  async read(file: string): Promise<void> {
    const page = readFileSync(file, 'utf8');
    const outputs: string[] = [];
    for (const { command, output } of stepsOf(page)) outputs.push(await this.#print(command, output));
    await expect.soft(withOutputs(page, outputs)).toMatchFileSnapshot(file);
  }

  /** finish checks that the background command has printed all lines that the pages show of it. */
  finish(): void {
    const logged = normalised(this.#logged);
    for (const line of this.#claimed) expect.soft(logged).toContain(line);
  }

  async #print(command: string, shown: string): Promise<string> {
    const { background, ready } = this.#options;
    if (command === background) {
      this.#start();
      await ready(this);
      this.#claimed.push(...normalised(shown).split('\n'));
      return shown;
    }
    const run = (): Promise<string> => this.run(`${command} || true`);
    let printed = await run();
    // Read-only commands are retried: schemas and events are published asynchronously.
    for (let left = 40; left > 0 && isRead(command) && !sameOutput(printed, shown); left--) {
      await pause(500);
      printed = await run();
    }
    return sameOutput(printed, shown) ? shown : printed;
  }

  /** In a separate process group, because npm starts child processes. */
  #start(): void {
    const { cwd, background } = this.#options;
    const env = this.#env;
    const child = spawn('bash', ['-c', background], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'close');
    const collect = (chunk: Buffer): void => {
      this.#logged += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    this.#stop = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
      return ended;
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** The environment of a reader's shell, without the variables of the test runner. */
function environmentOf({ programs, env }: ReaderOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
  const path = `${programs}:${process.env.PATH}`;
  return { ...Object.fromEntries(inherited), NODE_OPTIONS: '', PATH: path, ...env };
}
