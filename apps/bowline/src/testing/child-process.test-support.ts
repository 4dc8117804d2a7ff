import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';

/** Child is the command line in a separate process. */
export interface Child extends AsyncDisposable {
  /** logged resolves when a line of its output matches. */
  logged(pattern: RegExp): Promise<string>;
  /** stop sends a signal and returns how the process ended. */
  stop(signal?: NodeJS.Signals): Promise<ProcessResult>;
  readonly ended: Promise<ProcessResult>;
}

/** ProcessResult reports how a process ended. */
export interface ProcessResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The complete output. */
  readonly output: string;
}

/** The command line with the test operators. */
const TEST_ENTRY = 'apps/bowline/src/testing/main.test-support.ts';

/**
 * startBowline starts the command line as a process, bundled as in a release; `entry` defaults to the one with the test
 * operators. Disposing of it kills the process.
 */
export async function startBowline(args: readonly string[], entry = TEST_ENTRY): Promise<Child> {
  const main = await bundledProgram(entry);
  const child = spawn(process.execPath, ['--enable-source-maps', main, ...args], {
    env: { ...process.env, KUBECONFIG: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const check of waiting) check();
    });
  }
  const ended = once(child, 'close').then(([code, signal]): ProcessResult => {
    for (const check of waiting) check();
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, output: lines.join('\n') };
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<ProcessResult> => {
    child.kill(signal);
    return ended;
  };
  return {
    ended,
    stop,
    logged: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined && child.exitCode === null && child.signalCode === null) return;
          waiting.delete(check);
          if (found === undefined) reject(new Error(`ended without ${pattern}:\n${lines.join('\n')}`));
          else resolve(found);
        };
        waiting.add(check);
        check();
      }),
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}

/** Files is a temporary folder. */
export interface Files extends AsyncDisposable {
  write(name: string, text: string): Promise<string>;
}

/** temporaryFiles creates a folder that is removed when it is disposed of. */
export async function temporaryFiles(): Promise<Files> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-cli-'));
  return {
    async write(name, text) {
      const path = join(folder, name);
      await writeFile(path, text);
      return path;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** freePort returns a port that no process listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
