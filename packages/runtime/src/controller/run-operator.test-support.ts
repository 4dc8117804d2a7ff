import type { Cluster } from '@bowline/control-plane/testing';
import { createClient } from '../client/create-client.ts';
import { Manager } from '../manager/manager.ts';
import type { ManagerOptions } from '../manager/manager-options.ts';
import type { Operator } from '../operator/operator.ts';
import type { Transport } from '../transport/transport.ts';

/** RunningOperator is an operator in a manager of its own. */
export interface RunningOperator {
  /** Settles as the manager's `run` does. */
  readonly ended: Promise<void>;
  /** stop ends it, as on SIGTERM. */
  stop(): void;
}

/** runOperator runs an operator, with an empty memory, on a transport that a test holds in its hand. */
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
  // Whoever waits for it learns of it; until then it must not count as unhandled.
  ended.catch(() => undefined);
  return { ended, stop: () => end.abort() };
}
