import { Manager, type ManagerOptions } from '@bowline/runtime/manager';
import { type AgentParts, nodeAgentOperator } from './operator.ts';

/** Reconciles are short; one that hangs on an unresponsive server is not worth waiting for. */
const DRAIN_MS = 1_000;

/** agentManager returns the manager that runs the controllers of a node agent. */
export function agentManager(
  parts: AgentParts,
  options: Pick<ManagerOptions, 'clientFor' | 'clock' | 'wire' | 'random' | 'log'>,
): Manager {
  return new Manager({
    ...options,
    operators: [nodeAgentOperator(parts)],
    leaderElection: false,
    healthAddress: '0',
    metricsAddress: '0',
    drainTimeoutMs: DRAIN_MS,
  });
}
