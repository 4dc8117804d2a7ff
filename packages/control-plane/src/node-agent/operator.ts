import { Lease, Node, Pod } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { allow, defineOperator, type Operator } from '@bowline/runtime';
import type { Addresses } from './addresses.ts';
import { type AgentDeps, nodeController, podController } from './controllers.ts';
import { Heartbeats, NODE_LEASE_NAMESPACE } from './heartbeats.ts';

/** AgentParts holds the parts of a node agent's operator. */
export interface AgentParts {
  /** The agent's name. */
  readonly name: string;
  readonly wire: Clock;
  readonly heartbeatMs: number;
  readonly addresses: Addresses;
  readonly logPort?: number | undefined;
  readonly onReported: (node: string) => void;
}

/** nodeAgentOperator returns the node agent as an operator. */
export function nodeAgentOperator(parts: AgentParts): Operator {
  const { name, wire, heartbeatMs, addresses, logPort, onReported } = parts;
  return defineOperator({
    name: 'node-agent',
    domain: 'bowline.dev',
    setup: ({ client, log }): AgentDeps => ({
      heartbeats: new Heartbeats({ client, wire, log, intervalMs: heartbeatMs }),
      addresses,
      logPort,
      onReported,
    }),
    controllers: [nodeController(name), podController(name)],
    services: [{ name: 'heartbeats', run: (signal, { heartbeats }) => heartbeats.run(signal) }],
    permissions: [
      allow(['create', 'delete'], Node),
      allow(['patch'], Node, { subresource: 'status' }),
      allow(['delete'], Pod),
      allow(['patch'], Pod, { subresource: 'status' }),
      // delete: with OwnerReferencesPermissionEnforcement, taking over the Lease of an earlier Node requires it.
      allow(['create', 'patch', 'delete'], Lease, { namespaces: [NODE_LEASE_NAMESPACE] }),
    ],
  });
}
