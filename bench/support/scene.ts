import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSubjects } from './bundle.ts';
import { type BenchCluster, type ClusterOptions, openCluster } from './cluster.ts';
import type { Connection } from './connection.ts';
import type { Command } from './subject-process.ts';

/** Scene is the environment of a suite's measurements: its own control plane and the bundled subjects. */
export interface Scene {
  readonly connection: Connection;
  /** A file with `connection`. */
  readonly connectionFile: string;
  readonly kubeconfig: string;
  /** A folder for this run, removed at its end. */
  readonly folder: string;
  /** Returns the bundled subject of this name. */
  command(name: string): Command;
  log(line: string): void;
}

/** OpenedScene is a scene that must be closed at the end. */
export interface OpenedScene extends Scene, AsyncDisposable {
  /** The API server's version. */
  readonly kubernetes: string;
  readonly cluster: Pick<BenchCluster, 'startMs' | 'serverPids' | 'kubeconfigFor' | 'audit'>;
}

/** openScene bundles the subjects and starts the control plane. */
export async function openScene(
  subjects: readonly URL[],
  log: (line: string) => void,
  options: ClusterOptions = {},
): Promise<OpenedScene> {
  const folder = mkdtempSync(join(tmpdir(), 'bowline-bench-'));
  const leave = (): void => rmSync(folder, { recursive: true, force: true });
  // Subjects and control plane detect by themselves that this process has exited; the folder contains credentials.
  const interrupted = (): void => {
    leave();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const command = await bundleSubjects(subjects, folder);
    log('starting a control plane');
    const cluster = await openCluster(log, options);
    const connectionFile = join(folder, 'connection.json');
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(connectionFile, JSON.stringify(cluster.connection), { mode: 0o600 });
    writeFileSync(kubeconfig, JSON.stringify(cluster.kubeconfig), { mode: 0o600 });
    return {
      connection: cluster.connection,
      connectionFile,
      kubeconfig,
      folder,
      command,
      log,
      kubernetes: cluster.version,
      cluster,
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
