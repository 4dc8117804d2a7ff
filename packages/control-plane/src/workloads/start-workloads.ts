import { setMaxListeners } from 'node:events';
import type { Clock, Random } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { Transport } from '@bowline/runtime/client';

/** WorkloadsOptions configures the controllers of a control plane. */
export interface WorkloadsOptions {
  /** The connection to the API server, with full access. It is not closed here. */
  readonly transport: Transport;
  /**
   * The certificate that Pods verify the API server with, in PEM: published as `kube-root-ca.crt` in every namespace.
   * Defaults to none.
   */
  readonly rootCertificate?: string | undefined;
  /** Runs the controllers of Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, Services and nodes. Defaults to true. */
  readonly workloads?: boolean | undefined;
  /** Runs the scheduler. Defaults to true. */
  readonly scheduler?: boolean | undefined;
  /**
   * The clock for condition timestamps and for durations that users set in seconds: deadlines, readiness. Defaults to
   * the system clock.
   */
  readonly clock?: Clock | undefined;
  /** The clock for watches and retries. Defaults to the system clock. */
  readonly wire?: Clock | undefined;
  /** Defaults to the system's random source. */
  readonly random?: Random | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Stops the controllers. */
  readonly signal?: AbortSignal | undefined;
}

/** Workloads controls the running controllers of a control plane. */
export interface Workloads extends AsyncDisposable {
  /** Settles when the controllers have stopped; rejects if they stopped because of an error. */
  readonly stopped: Promise<void>;
  /** stop stops all controllers. */
  stop(): Promise<void>;
}

/**
 * startWorkloads runs what kube-controller-manager and kube-scheduler do for a cluster: garbage collection, namespaces,
 * ServiceAccounts, workloads and scheduling. It returns immediately; objects are processed as soon as they are known.
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
    // Imported on demand: callers have requests to send first, and the controllers are most of the code.
    const { workloadsManager } = await import('./workloads-manager.ts');
    if (end.aborted) return;
    await workloadsManager(options).run(end);
  };
  const stopped = run();
  // The caller of `stop` receives the error; without such a caller it must not end the process.
  stopped.catch(() => undefined);
  const stopAll = (): Promise<void> => {
    stop.abort();
    return stopped;
  };
  return { stopped, stop: stopAll, [Symbol.asyncDispose]: stopAll };
}
