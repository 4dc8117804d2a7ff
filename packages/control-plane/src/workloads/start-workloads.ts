import { setMaxListeners } from 'node:events';
import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Transport } from '@bowline/runtime/client';

/** WorkloadsOptions describe the controllers of a control plane. */
export interface WorkloadsOptions {
  /** The way to the API server, as somebody who may do everything. Not closed here. */
  readonly transport: Transport;
  /** What Pods know the API server by, in PEM: published as `kube-root-ca.crt` in every namespace. Defaults to nothing. */
  readonly rootCertificate?: string | undefined;
  /** Runs the controllers of Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, Services and nodes. Defaults to true. */
  readonly workloads?: boolean | undefined;
  /** Gives Pods their nodes. Defaults to true. */
  readonly scheduler?: boolean | undefined;
  /** Stamps conditions and times what users asked for in seconds: deadlines, readiness. Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** Times watches and retries. Defaults to the system's. */
  readonly wire?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Defaults to silence. */
  readonly log?: Log | undefined;
  /** Stops them. */
  readonly signal?: AbortSignal | undefined;
}

/** Workloads is the running controllers of a control plane. */
export interface Workloads extends AsyncDisposable {
  /** Settles when they have stopped; rejects when they had to. */
  readonly stopped: Promise<void>;
  /** stop ends everything. */
  stop(): Promise<void>;
}

/**
 * startWorkloads runs what kube-controller-manager and kube-scheduler do for a cluster: garbage collection, namespaces,
 * ServiceAccounts, workloads and scheduling. It returns at once; everything is looked after as soon as it is known.
 *
 * @example
 * await using workloads = startWorkloads({ transport, rootCertificate });
 */
export function startWorkloads(options: WorkloadsOptions): Workloads {
  const { signal } = options;
  const stop = new AbortController();
  const end = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  setMaxListeners(0, end);
  const run = async (): Promise<void> => {
    // Whoever starts them has something to ask first, and controllers are most of the code.
    const { workloadsManager } = await import('./workloads-manager.ts');
    if (end.aborted) return;
    await workloadsManager(options).run(end);
  };
  const stopped = run();
  // Whoever stops them learns of it; without anybody it must not end the process.
  stopped.catch(() => undefined);
  const stopAll = (): Promise<void> => {
    stop.abort();
    return stopped;
  };
  return { stopped, stop: stopAll, [Symbol.asyncDispose]: stopAll };
}
