import { setMaxListeners } from 'node:events';
import { type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import { createClient, type Log, Manager, silentLog, type Transport } from '@bowline/runtime';
import { workloadsOperator } from './operator.ts';

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

/** Reconciles are short; one that hangs on a server that does not answer is not worth waiting for. */
const DRAIN_MS = 1_000;

/**
 * startWorkloads runs what kube-controller-manager and kube-scheduler do for a cluster: garbage collection, namespaces,
 * ServiceAccounts, workloads and scheduling. It returns at once; everything is looked after as soon as it is known.
 *
 * @example
 * await using workloads = startWorkloads({ transport, rootCertificate });
 */
export function startWorkloads(options: WorkloadsOptions): Workloads {
  const { transport, signal, clock = systemClock, wire = systemClock } = options;
  const { random = systemRandom, log = silentLog } = options;
  const component = 'kube-controller-manager';
  const client = createClient({ transport, clock: wire, wire, random, log, component, fieldManager: component });
  const stop = new AbortController();
  const end = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  setMaxListeners(0, end);
  const manager = new Manager({
    operators: [
      workloadsOperator({
        client,
        clock,
        wire,
        random,
        log,
        rootCertificate: options.rootCertificate,
        workloads: options.workloads ?? true,
        scheduler: options.scheduler ?? true,
      }),
    ],
    clientFor: () => client,
    leaderElection: false,
    healthAddress: '0',
    metricsAddress: '0',
    drainTimeoutMs: DRAIN_MS,
    clock,
    wire,
    random,
    log,
  });
  const stopped = manager.run(end);
  // Whoever stops them learns of it; without anybody it must not end the process.
  stopped.catch(() => undefined);
  const stopAll = (): Promise<void> => {
    stop.abort();
    return stopped;
  };
  return { stopped, stop: stopAll, [Symbol.asyncDispose]: stopAll };
}
