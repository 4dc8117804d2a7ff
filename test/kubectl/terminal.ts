import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlaneAccess, writeKubeconfig } from '@bowline/control-plane';
import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, ServiceAccount } from '@bowline/kubernetes';
import { normalised } from './normalise.ts';

/** Watching is a command that runs until it has printed a number of lines, and the steps that run in the meantime. */
export interface Watching {
  readonly watch: string;
  readonly lines: number;
  readonly meanwhile: readonly string[];
}

/** Unordered is a command whose output lines have a random order. */
export interface Unordered {
  readonly unordered: string;
}

/** Step is a command line for bash, in which NAMESPACE stands for the terminal's namespace. */
export type Step = string | Watching | Unordered;

/** Terminal runs commands against one control plane. */
export interface Terminal extends AsyncDisposable {
  /** show runs a step and returns the command and its normalised output. */
  show(step: Step): Promise<string>;
}

interface Shell {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const WATCH_MS = 20_000;

/**
 * openTerminal opens a terminal with its own namespace, the given programs, and a copy of a folder, in whose files NAMESPACE is
 * replaced too.
 */
export async function openTerminal(
  controlPlane: ControlPlaneAccess,
  { tools, files }: { readonly tools: string; readonly files: string },
): Promise<Terminal> {
  const c = await cluster({ controlPlane, prefix: 'kubectl' });
  const { namespace } = c;
  const folder = mkdtempSync(join(tmpdir(), 'bowline-kubectl-'));
  c.onDispose(async () => rmSync(folder, { recursive: true, force: true }));
  const own = (text: string): string => text.replaceAll('NAMESPACE', namespace);
  cpSync(files, folder, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile()) writeFileSync(file, own(readFileSync(file, 'utf8')));
  }
  const kubeconfig = await c.kubeconfig('admin');
  const [{ name, context }] = kubeconfig.contexts;
  await writeKubeconfig(join(folder, '.kubeconfig'), {
    ...kubeconfig,
    contexts: [{ name, context: { ...context, namespace } }],
  });
  const shell: Shell = {
    cwd: folder,
    env: {
      PATH: `${tools}:${process.env.PATH}`,
      HOME: folder,
      TMPDIR: folder,
      KUBECONFIG: join(folder, '.kubeconfig'),
      LC_ALL: 'C.UTF-8',
      // The programs exit before garbage collection would pay off.
      GOGC: '400',
    },
  };
  // The controllers create these shortly after the namespace.
  await c.until(ServiceAccount, { name: 'default' }, () => true);
  await c.until(ConfigMap, { name: 'kube-root-ca.crt' }, () => true);

  const clean = (printed: string): string => normalised(printed, { [folder]: '<folder>', [namespace]: 'NAMESPACE' });
  const type = async (command: string): Promise<string> => clean(await run(own(command), shell));
  return {
    async show(step) {
      if (typeof step === 'string') return `$ ${step}\n${await type(step)}`;
      if ('unordered' in step) {
        const lines = (await type(step.unordered)).split('\n');
        return `$ ${step.unordered} | sort\n${lines.sort().join('\n').trimStart()}\n`;
      }
      const { watch: command, lines, meanwhile } = step;
      const watching = startWatch(own(command), shell);
      await watching.until(1);
      let others = '';
      for (const each of meanwhile) others += `$ ${each}\n${await type(each)}`;
      await watching.until(lines);
      return `$ ${command} &\n${others}${clean(await watching.stop())}`;
    },
    [Symbol.asyncDispose]: () => c[Symbol.asyncDispose](),
  };
}

/** run returns the output of a command, and its exit code if it failed. */
function run(command: string, shell: Shell): Promise<string> {
  return new Promise((resolve) => {
    const options = { ...shell, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 };
    execFile('bash', ['-c', `{ ${command}\n} 2>&1`], options, (error, stdout) => {
      resolve(error ? `${stdout}[exited with ${error.signal ?? error.code}]\n` : stdout);
    });
  });
}

/** startWatch starts a command that does not exit by itself. If it prints too few lines, it is stopped after a timeout. */
function startWatch(
  command: string,
  shell: Shell,
): { until(lines: number): Promise<unknown>; stop(): Promise<string> } {
  const child = spawn('bash', ['-c', `exec ${command} 2>&1`], { ...shell, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const timer = setTimeout(() => child.kill(), WATCH_MS);
  let seen = '';
  let check = (): void => {};
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    check();
  });
  return {
    until: (lines) =>
      Promise.race([
        ended,
        new Promise<void>((resolve) => {
          check = () => {
            if (seen.split('\n').length > lines) resolve();
          };
          check();
        }),
      ]),
    async stop() {
      clearTimeout(timer);
      child.kill();
      await ended;
      return seen;
    },
  };
}
