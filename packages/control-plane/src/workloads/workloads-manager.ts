import { systemClock, systemRandom } from '@bowline/machinery';
import { createClient } from '@bowline/runtime/client';
import { Manager, silentLog } from '@bowline/runtime/manager';
import { workloadsOperator } from './operator.ts';
import type { WorkloadsOptions } from './start-workloads.ts';

/** Reconciles are short; one that hangs on an unresponsive server is not worth waiting for. */
const DRAIN_MS = 1_000;

const COMPONENT = 'kube-controller-manager';

/** workloadsManager returns the manager that runs the controllers of a control plane. */
export function workloadsManager(options: WorkloadsOptions): Manager {
  const { clock = systemClock, wire = systemClock, random = systemRandom, log = silentLog } = options;
  const client = createClient({
    transport: options.transport,
    clock: wire,
    wire,
    random,
    log,
    component: COMPONENT,
    fieldManager: COMPONENT,
  });
  return new Manager({
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
}
