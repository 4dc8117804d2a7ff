import { Lease, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import { allow, defineOperator, type Operator, type Permission } from '@bowline/runtime';
import type { Controller } from '@bowline/runtime/controller';
import type { Addresses } from './addresses.ts';
import { type AgentDeps, nodeController, podController } from './controllers.ts';
import { Heartbeats, NODE_LEASE_NAMESPACE } from './heartbeats.ts';
import { type VolumeDeps, volumeController } from './volumes/volume-controller.ts';
import { VolumeFolders } from './volumes/volume-folders.ts';

/** AgentParts holds the parts of a node agent's operator. */
export interface AgentParts {
  /** The agent's name. */
  readonly name: string;
  readonly wire: Clock;
  readonly heartbeatMs: number;
  readonly addresses: Addresses;
  readonly logPort?: number | undefined;
  /** The folders of provisioned volumes. Defaults to none: no volumes are provisioned. */
  readonly folders?: VolumeFolders | undefined;
  readonly onReported: (node: string) => void;
}

/** nodeAgentOperator returns the node agent as an operator. */
export function nodeAgentOperator(parts: AgentParts): Operator {
  const { name, wire, heartbeatMs, addresses, logPort, folders, onReported } = parts;
  const controllers: Controller<AgentDeps & VolumeDeps>[] = [nodeController(name), podController(name)];
  if (folders) controllers.push(volumeController());
  return defineOperator({
    name: 'node-agent',
    domain: 'bowline.dev',
    setup: ({ client, log }): AgentDeps & VolumeDeps => ({
      heartbeats: new Heartbeats({ client, wire, log, intervalMs: heartbeatMs }),
      addresses,
      logPort,
      folders: folders ?? new VolumeFolders(undefined),
      onReported,
    }),
    controllers,
    services: [{ name: 'heartbeats', run: (signal, { heartbeats }) => heartbeats.run(signal) }],
    permissions: [
      allow(['create', 'delete'], Node),
      allow(['patch'], Node, { subresource: 'status' }),
      allow(['delete'], Pod),
      allow(['patch'], Pod, { subresource: 'status' }),
      // delete: with OwnerReferencesPermissionEnforcement, taking over the Lease of an earlier Node requires it.
      allow(['create', 'patch', 'delete'], Lease, { namespaces: [NODE_LEASE_NAMESPACE] }),
      ...(folders ? volumePermissions() : []),
    ],
  });
}

function volumePermissions(): readonly Permission[] {
  return [
    allow(['get', 'create'], StorageClass),
    allow(['create', 'patch', 'delete'], PersistentVolume),
    allow(['patch'], PersistentVolumeClaim),
  ];
}
