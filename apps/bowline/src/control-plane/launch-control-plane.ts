import { fileURLToPath } from 'node:url';
import type { ControlPlane, SupervisorCommand } from '@bowline/control-plane';
import type { BowlineError } from '@bowline/runtime';
import { goModule } from './go-module.ts';

/** ControlPlaneKind is which of the two control planes is meant. */
export type ControlPlaneKind = ControlPlane['kind'];

/** LaunchOptions is what commands let their users say of a control plane. */
export interface LaunchOptions {
  readonly port?: number | undefined;
  readonly dataDir?: string | undefined;
  /** Embedded only. */
  readonly plainHttp?: boolean | undefined;
  /** Ends the start. */
  readonly signal: AbortSignal;
  /** Told when something takes long. Defaults to standard error. */
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** LaunchedControlPlane is a control plane that runs. */
export interface LaunchedControlPlane {
  readonly controlPlane: ControlPlane;
  /** Rejects when it ends by itself; never resolves. */
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
  // Whoever waits for it learns of it; a crash while stopping is nobody's business.
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

/** superviseSelf runs this very program as the supervisor, with whatever lets Node run it (loaders, conditions). */
function superviseSelf(): SupervisorCommand {
  const entry = process.argv[1] ?? fileURLToPath(import.meta.url);
  return { command: process.execPath, args: [...process.execArgv, entry, 'supervise'] };
}
