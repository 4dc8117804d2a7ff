import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PreparedSidecar } from './sidecar/prepare-sidecar.ts';

/** SidecarProgram is the command that the image of the agent runs. */
export interface SidecarProgram {
  readonly program: string;
  /** Precede the arguments of the container. */
  readonly args: readonly string[];
  /** Whether the process has an IPC channel to this one. Defaults to false. */
  readonly hasIpc?: boolean | undefined;
}

/** RunningSidecar is the agent of a pod, as a child process. Disposing of it kills the process. */
export interface RunningSidecar extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Resolves when the process has ended. */
  readonly ended: Promise<SidecarEnd>;
  /** stop sends a signal and waits until the process has ended. Defaults to SIGTERM, as a kubelet. */
  stop(signal?: NodeJS.Signals): Promise<SidecarEnd>;
}

/** SidecarEnd reports how a process ended. */
export interface SidecarEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** runSidecar starts exactly the command line of the agent's container, with nothing of this process' environment but the PATH. */
export function runSidecar(
  { args, env }: Pick<PreparedSidecar, 'args' | 'env'>,
  { program, args: first, hasIpc = false }: SidecarProgram,
): RunningSidecar {
  const child = spawn(program, [...first, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(hasIpc ? (['ipc'] as const) : [])],
  });
  const ended = once(child, 'close').then(([code, signal]): SidecarEnd => {
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  // A program that cannot be started is reported to whoever waits for the end.
  ended.catch(() => undefined);
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<SidecarEnd> => {
    child.kill(signal);
    return await ended;
  };
  return {
    child,
    ended,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop('SIGKILL');
    },
  };
}
