import type { Cluster } from '@bowline/control-plane/testing';
import { createClient } from '../client/create-client.ts';
import { Manager } from '../manager/manager.ts';
import type { ManagerOptions } from '../manager/manager-options.ts';
import type { Operator } from '../operator/operator.ts';
import type { Transport } from '../transport/transport.ts';

/** RunningOperator is an operator in a manager of its own. */
export interface RunningOperator {
  /** Settles like the manager's `run`. */
  readonly ended: Promise<void>;
  /** stop stops it, as on SIGTERM. */
  stop(): void;
}

/** runOperator runs an operator, without any memory, on a transport that the test controls. */
export function runOperator(
  c: Cluster,
  operator: Operator,
  transport: Transport,
  options: Partial<ManagerOptions> = {},
): RunningOperator {
  const end = new AbortController();
  const manager = new Manager({
    operators: [operator],
    clientFor: () => createClient({ transport }),
    namespace: c.namespace,
    leaderElection: false,
    healthAddress: '0',
    metricsAddress: '0',
    ...options,
  });
  const ended = manager.run(end.signal);
  // A caller that awaits it gets the error; until then it must not count as unhandled.
  ended.catch(() => undefined);
  return { ended, stop: () => end.abort() };
}
