import { EventEmitter, on } from 'node:events';
import type { TlsIdentity } from '@bowline/runtime/certificates';
import { AgentClients } from '../agent-client/agent-clients.ts';
import type { Agents } from '../agent-client/agent-directory.ts';

/** AGENTS_FILE is the environment variable with the path of a file that holds CanaryTargets. */
export const AGENTS_FILE = 'CANARY_AGENTS_FILE';

/** CanaryTargets are the agents of a test: where they listen, and with which certificate the manager calls them. */
export interface CanaryTargets {
  readonly identity: TlsIdentity;
  readonly serverName: string;
  /** The addresses by serial number. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** RemoteAgents are agents in other processes. */
export interface RemoteAgents extends Agents {
  /** announce reports that the agents of an HSMDevice have changed. */
  announce(device: string): void;
}

/** remoteAgents returns agents that are called as the manager calls those of pods. */
export function remoteAgents(targets: () => CanaryTargets): RemoteAgents {
  const emitter = new EventEmitter().setMaxListeners(0);
  const identity = {
    get current() {
      return targets().identity;
    },
  };
  const clients = new AgentClients({ identity });
  return {
    agentsOf: () =>
      Object.entries(targets().addresses).map(([serialNumber, address]) => ({
        serialNumber,
        nodeName: 'node',
        podUID: address,
        service: clients.agent({ address, serverName: targets().serverName }),
      })),
    async *changes(signal) {
      for await (const [device] of on(emitter, 'change', { signal })) yield String(device);
    },
    announce: (device) => void emitter.emit('change', device),
  };
}
