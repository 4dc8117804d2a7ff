import { fileURLToPath } from 'node:url';
import type { ControlPlane, SupervisorCommand } from '@bowline/control-plane';
import type { BowlineError } from '@bowline/runtime';
import { goModule } from './go-module.ts';

/** ControlPlaneKind selects one of the two control planes. */
export type ControlPlaneKind = ControlPlane['kind'];

/** LaunchOptions holds the options of a control plane that commands offer to their users. */
export interface LaunchOptions {
  readonly port?: number | undefined;
  readonly dataDir?: string | undefined;
  /** Embedded only. */
  readonly plainHttp?: boolean | undefined;
  /** Aborts the start. */
  readonly signal: AbortSignal;
  /** Called with a message when a step takes long. Defaults to standard error. */
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** LaunchedControlPlane is a running control plane. */
export interface LaunchedControlPlane {
  readonly controlPlane: ControlPlane;
  /** Rejects when the control plane ends by itself; never resolves. */
  readonly crashed: Promise<never>;
}

/** launchControlPlane starts a control plane of a kind for a command. */
export async function launchControlPlane(
  kind: ControlPlaneKind,
  options: LaunchOptions,
): Promise<LaunchedControlPlane> {
  const { startControlPlane } = await import('@bowline/control-plane/start');
  const { port, dataDir, plainHttp, signal, onProgress = (line) => console.error(line) } = options;
  let crash: (error: BowlineError) => void = () => {};
  const crashed = new Promise<never>((_, reject) => {
    crash = reject;
  });
  // Callers that await it receive the error; a crash while stopping is ignored.
  crashed.catch(() => {});
  const controlPlane =
    kind === 'embedded'
      ? await startControlPlane({
          kind,
          port,
          dataDir,
          plainHttp,
          signal,
          onError: (error) => console.error('the embedded control plane failed:', error),
        })
      : await startControlPlane({
          kind,
          port,
          dataDir,
          signal,
          moduleDir: goModule(),
          supervisor: superviseSelf(),
          onProgress,
          onCrash: (error) => crash(error),
        });
  return { controlPlane, crashed };
}

/** superviseSelf runs this program as the supervisor, with the same Node options (loaders, conditions). */
function superviseSelf(): SupervisorCommand {
  const entry = process.argv[1] ?? fileURLToPath(import.meta.url);
  return { command: process.execPath, args: [...process.execArgv, entry, 'supervise'] };
}
