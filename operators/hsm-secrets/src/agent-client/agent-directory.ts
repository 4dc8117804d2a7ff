import { keyString, type ObjectKey, Pod } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import { type Log, project } from '@bowline/runtime';
import { Cache } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import type { AgentService } from '../agent-protocol/agent-service.ts';
import { AGENT_PORT, agentServerName, LABELS, MANAGER, SERIAL_ANNOTATION } from '../api/names.ts';
import type { AgentClients } from './agent-clients.ts';
import { DeviceChanges } from './device-changes.ts';

/** DeviceAgent is an agent that can be called. */
export interface DeviceAgent {
  readonly serialNumber: string;
  readonly nodeName: string;
  readonly podUID: string;
  readonly service: AgentService;
}

/** Agents finds the agents of HSMDevices. */
export interface Agents {
  /** agentsOf returns the agents of an HSMDevice that are running and have an address, ordered by serial number. */
  agentsOf(device: ObjectKey): readonly DeviceAgent[];
  /** changes yields the HSMDevice (`namespace/name`) of an agent that has changed, until the signal is aborted. */
  changes(signal: AbortSignal): AsyncIterable<string>;
  /** announce reports that the agents of an HSMDevice, `namespace/name`, have changed. */
  announce(device: string): void;
}

/** AgentDirectoryOptions configures where agents are found. */
export interface AgentDirectoryOptions {
  readonly client: Client;
  /** The namespaces that the manager is limited to. Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly clients: AgentClients;
  /** addressOf returns another address of a pod's agent, for the simulation. Defaults to that of the pod. */
  readonly addressOf?: ((podUID: string) => string | undefined) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** AgentPod is what is kept of the pod of an agent. */
export interface AgentPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly device: string;
  readonly serialNumber: string;
  readonly address: string | undefined;
  /** Whether its container runs, whether or not its token can be used. */
  readonly isRunning: boolean;
  readonly isReady: boolean;
  /** The reason of a pod that has failed. */
  readonly failureReason: string | undefined;
}

/** AGENT_SELECTOR selects the pods of agents. */
export const AGENT_SELECTOR: string = `${LABELS.component}=agent,${LABELS.managedBy}=${MANAGER}`;

/** agentPodView keeps where the agent of a pod is found. */
export const agentPodView = project(({ metadata = {}, spec, status }: Pod): AgentPod => {
  const { podIP, phase } = status ?? {};
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    nodeName: spec?.nodeName ?? '',
    device: metadata.labels?.[LABELS.device] ?? '',
    serialNumber: metadata.annotations?.[SERIAL_ANNOTATION] ?? '',
    // IPv6 addresses are in brackets.
    address: podIP === undefined ? undefined : `${podIP.includes(':') ? `[${podIP}]` : podIP}:${AGENT_PORT}`,
    isRunning: phase === 'Running' && metadata.deletionTimestamp === undefined,
    isReady: status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false,
    failureReason: phase === 'Failed' ? (status?.reason ?? 'Failed') : undefined,
  };
});

/**
 * AgentDirectory finds agents by their pods. It runs on every replica: also one that does not lead serves the API.
 */
export class AgentDirectory implements Agents {
  readonly #options: AgentDirectoryOptions;
  readonly #changes = new DeviceChanges();
  readonly #byDevice = new Map<string, Map<string, AgentPod>>();

  constructor(options: AgentDirectoryOptions) {
    this.#options = options;
  }

  agentsOf(device: ObjectKey): readonly DeviceAgent[] {
    const { clients, addressOf } = this.#options;
    const pods = [...(this.#byDevice.get(keyString(device))?.values() ?? [])].filter(({ isRunning }) => isRunning);
    return pods
      .flatMap(({ uid, serialNumber, nodeName, address: podAddress }): DeviceAgent[] => {
        const address = addressOf ? addressOf(uid) : podAddress;
        if (address === undefined) return [];
        const service = clients.agent({ address, serverName: agentServerName(device) });
        return [{ serialNumber, nodeName, podUID: uid, service }];
      })
      .sort((a, b) => (a.serialNumber < b.serialNumber ? -1 : 1));
  }

  changes(signal: AbortSignal): AsyncIterable<string> {
    return this.#changes.follow(signal);
  }

  announce(device: string): void {
    this.#changes.announce(device);
  }

  /** run follows the pods until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespaces, clock, random, log } = this.#options;
    const cache = new Cache({ client, clock, random, log });
    const pods = cache.informer(Pod, {
      ...(namespaces ? { namespaces } : {}),
      labelSelector: AGENT_SELECTOR,
      view: agentPodView,
    });
    using _ = pods.subscribe(({ previous, current }) => {
      if (previous) this.#remove(previous);
      if (current) this.#add(current);
      const changed = current ?? previous;
      if (changed) this.announce(keyString({ namespace: changed.namespace, name: changed.device }));
    });
    await cache.run(signal);
  }

  #add(pod: AgentPod): void {
    const device = keyString({ namespace: pod.namespace, name: pod.device });
    const pods = this.#byDevice.get(device) ?? new Map<string, AgentPod>();
    this.#byDevice.set(device, pods.set(pod.uid, pod));
  }

  #remove(pod: AgentPod): void {
    const device = keyString({ namespace: pod.namespace, name: pod.device });
    const pods = this.#byDevice.get(device);
    pods?.delete(pod.uid);
    if (pods?.size === 0) this.#byDevice.delete(device);
  }
}
