import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSubjects } from '../../support/bundle.ts';
import { openCluster } from '../../support/cluster.ts';
import { clientNodePeer, controllerRuntimePeer } from '../../support/peers.ts';
import type { Plan } from './plan.ts';
import type { Scene } from './scene.ts';

/** OpenedScene is a scene that must be left in the end. */
export interface OpenedScene extends Scene, AsyncDisposable {
  /** The API server's version. */
  readonly kubernetes: string;
}

/** Named by URL, so that whoever moves one of them finds this list. */
const subjects = [
  new URL('./subjects/bare-events.ts', import.meta.url),
  new URL('./subjects/bare-sync.ts', import.meta.url),
  new URL('./subjects/bowline-events.ts', import.meta.url),
  new URL('./subjects/bowline-idle.ts', import.meta.url),
  new URL('./subjects/bowline-latency.ts', import.meta.url),
  new URL('./subjects/bowline-operator.ts', import.meta.url),
  new URL('./subjects/bowline-overhead.ts', import.meta.url),
  new URL('./subjects/bowline-sync.ts', import.meta.url),
  new URL('./subjects/nothing.ts', import.meta.url),
  new URL('./subjects/replay-server.ts', import.meta.url),
];

/** openScene prepares the peers, bundles the subjects and starts the control plane. */
export async function openScene(plan: Plan, log: (line: string) => void): Promise<OpenedScene> {
  const controllerRuntime = await controllerRuntimePeer(log);
  const clientNode = await clientNodePeer(log);
  const folder = mkdtempSync(join(tmpdir(), 'bowline-bench-'));
  const leave = (): void => rmSync(folder, { recursive: true, force: true });
  // Subjects and control plane notice by themselves that this process is gone; the folder holds credentials.
  const interrupted = (): void => {
    leave();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const command = await bundleSubjects(subjects, folder);
    log('starting a control plane');
    const cluster = await openCluster(log);
    const connectionFile = join(folder, 'connection.json');
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(connectionFile, JSON.stringify(cluster.connection), { mode: 0o600 });
    writeFileSync(kubeconfig, JSON.stringify(cluster.kubeconfig), { mode: 0o600 });
    return {
      plan,
      connection: cluster.connection,
      connectionFile,
      kubeconfig,
      folder,
      controllerRuntime,
      clientNode,
      command,
      log,
      kubernetes: cluster.version,
      async [Symbol.asyncDispose]() {
        try {
          await cluster[Symbol.asyncDispose]();
        } finally {
          process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
          leave();
        }
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}
