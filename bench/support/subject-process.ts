import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { cpuMsOf, type Memory, memoryOf } from './process-usage.ts';

/** Command is a program with its fixed arguments; the subject's input follows them. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** More variables of its environment. Defaults to none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends a program that does not end with its standard input. Defaults to none. */
  readonly endSignal?: NodeJS.Signals;
}

const endGraceMs = 5_000;

/** SubjectProcess is one measured program in a separate process, so that its memory can be measured. */
export class SubjectProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  readonly #lines: string[] = [];
  readonly #errors: string[] = [];
  #wake: () => void = () => {};
  #ended = false;
  readonly #endSignal: NodeJS.Signals | undefined;
  readonly #kill = (): void => void this.#child.kill('SIGKILL');

  constructor(command: Command, input: readonly string[]) {
    // Only what a program needs to start: NODE_OPTIONS or GOGC of the caller must not affect the measurement.
    const env = Object.fromEntries(
      ['PATH', 'HOME', 'TMPDIR'].flatMap((name) =>
        process.env[name] === undefined ? [] : [[name, process.env[name]]],
      ),
    );
    this.#child = spawn(command.file, [...command.args, ...input], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...env, ...command.env },
    });
    this.#endSignal = command.endSignal;
    if (command.endSignal !== undefined) process.once('exit', this.#kill);
    this.#child.stdin?.on('error', () => {});
    if (this.#child.stdout !== null) {
      createInterface({ input: this.#child.stdout }).on('line', (line) => {
        this.#lines.push(line);
        this.#wake();
      });
    }
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      if (this.#errors.length < 100) this.#errors.push(chunk.toString());
    });
    this.#exited = new Promise((resolve) => {
      const end = (code: number | null): void => {
        this.#ended = true;
        process.off('exit', this.#kill);
        this.#wake();
        resolve(code);
      };
      this.#child.on('error', (error) => {
        this.#errors.push(String(error));
        end(null);
      });
      this.#child.on('close', end);
    });
  }

  /** next waits for the subject's next line. */
  async next(timeoutMs: number): Promise<Readonly<Record<string, unknown>>> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return JSON.parse(line) as Record<string, unknown>;
      const leftMs = deadline - performance.now();
      if (this.#ended || leftMs <= 0) {
        const what = this.#ended ? 'ended' : `printed nothing for ${Math.round(timeoutMs)} ms`;
        throw new Error(`the subject ${what}: ${this.#errors.join('').slice(0, 4_000)}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** send writes one line to the subject's standard input. */
  send(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** The id of the process; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** output returns what the process has printed and was not read, for messages. */
  output(): string {
    return [...this.#lines, this.#errors.join('')].join('\n').slice(-4_000);
  }

  /** memory reads the kernel's memory statistics of the process. */
  memory(): Memory {
    return memoryOf(this.#child.pid);
  }

  /** cpuMs returns the processor time used by the process, to a hundredth of a second. */
  cpuMs(): number {
    return cpuMsOf(this.#child.pid);
  }

  /** release closes the subject's standard input, which ends it, and waits until it has exited. */
  async release(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#endSignal !== undefined) this.#child.kill(this.#endSignal);
    const timer = setTimeout(this.#kill, endGraceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
