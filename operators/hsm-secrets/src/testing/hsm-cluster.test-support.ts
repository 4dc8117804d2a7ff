import {
  type Cluster,
  type ClusterOptions,
  cluster,
  type OperatorsOptions,
  type RunningOperators,
} from '@bowline/control-plane/testing';
import { type ObjectMeta, Pod } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { formatMicroTime, VirtualClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import { vi } from 'vitest';
import type { Agents } from '../agent-client/agent-directory.ts';
import { DeviceChanges } from '../agent-client/device-changes.ts';
import { HSMDevice } from '../api/hsm-device.ts';
import { type DeviceRow, HSMPool, type PodRow, type PoolStatus } from '../api/hsm-pool.ts';
import { LABELS, poolName, REPORT_ANNOTATION } from '../api/names.ts';
import { hsmSecretsWith } from '../operator.ts';

/** HsmClusterOptions configures the operator and its environment. */
export interface HsmClusterOptions extends Partial<Omit<OperatorsOptions & ClusterOptions, 'config' | 'clock'>> {
  /** The operator's section of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The agents that the operator calls. Defaults to none: the addresses of pods lead nowhere. */
  readonly agents?: Agents;
  /** How many nodes with HSM devices there are. Defaults to 2. */
  readonly nodes?: number;
}

/** ReportedInput is a device in a report: its serial number, or its members. */
export type ReportedInput = string | Readonly<Record<string, unknown>>;

/** HsmCluster is a test cluster with the operator as it is installed: with its own ServiceAccount and policies. */
export interface HsmCluster extends Cluster, RunningOperators {
  /** The clock of the operator, which stands still unless a test advances it. It starts at the real time. */
  readonly clock: VirtualClock;
  /** The nodes on which discovery runs, in order. */
  readonly nodes: readonly string[];
  /** addNode adds a node on which discovery runs. */
  addNode(): Promise<string>;
  /** createDevice creates an HSMDevice whose discovery runs on the nodes of the test. */
  createDevice(name: string, spec?: Readonly<Record<string, unknown>>, metadata?: ObjectMeta): Promise<HSMDevice>;
  /** discoveryPod waits for the Ready discovery pod of a device on a node. It is not `but`. */
  discoveryPod(device: string, node: string, but?: Pod): Promise<Pod>;
  /** clientOf returns a client with the token of a pod. */
  clientOf(pod: Pod): Promise<Client>;
  /** report writes the report of a pod as the pod itself. */
  report(pod: Pod, devices: readonly ReportedInput[], members?: Readonly<Record<string, unknown>>): Promise<void>;
  /** writeReport writes a text as the report of a pod, as the pod itself. */
  writeReport(pod: Pod, text: string): Promise<void>;
  /** untilPool waits for a status of the pool of a device. */
  untilPool(device: string, test: (status: PoolStatus, pool: HSMPool) => boolean): Promise<HSMPool>;
  /** pool reads the pool of a device. */
  pool(device: string): Promise<HSMPool>;
  /** untilEvent waits for an event about an object, and returns its message. */
  untilEvent(name: string, reason: string, text?: string): Promise<string>;
  /** eventsOf returns the reasons of the events about an object, sorted. */
  eventsOf(name: string): Promise<readonly string[]>;
}

/** IMAGE is the image of the pods that the operator creates in tests. */
export const IMAGE = 'example.test/bowline:1';

const NO_AGENTS: Agents = {
  agentsOf: () => [],
  changes: (signal) => new DeviceChanges().follow(signal),
  announce: () => {},
};

/** hsmCluster starts the operator, with nodes of its own. */
export async function hsmCluster(options: HsmClusterOptions = {}): Promise<HsmCluster> {
  const { config = {}, nodes: nodeCount = 2, agents = NO_AGENTS, ...rig } = options;
  const clock = new VirtualClock({ startMs: Date.now() });
  const c = await cluster({
    operators: [hsmSecretsWith({ agents })],
    prefix: 'hsm',
    ...rig,
    clock,
    config: { 'hsm-secrets': { image: IMAGE, ...config } },
  });
  const { namespace, admin } = c;
  const nodes: string[] = [];
  const nodeLabels = { 'example.test/cluster': namespace };
  const clients = new Map<string, Client>();
  const own: Omit<HsmCluster, keyof (Cluster & RunningOperators)> = {
    clock,
    nodes,
    async addNode() {
      const name = `${namespace}-${nodes.length + 1}`;
      // Discovery tolerates the taint; pods of other tests do not.
      const taints = [{ key: 'hsm-node', value: 'test', effect: 'NoSchedule' as const }];
      const added = await c.nodeAgent.nodes.add({ name, labels: nodeLabels, taints });
      c.onDispose(() => added.release());
      nodes.push(name);
      return name;
    },
    createDevice: (name, spec = {}, metadata = {}) =>
      admin.create(HSMDevice, {
        metadata: { ...metadata, namespace, name },
        spec: { deviceType: 'PicoHSM', nodeSelector: nodeLabels, ...spec },
      }),
    async discoveryPod(device, node, but) {
      const isWanted = ({ metadata, spec, status }: Pod): boolean =>
        spec?.nodeName === node &&
        metadata?.uid !== but?.metadata?.uid &&
        metadata?.deletionTimestamp === undefined &&
        status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
      const labelSelector = `${LABELS.component}=discovery,${LABELS.device}=${device}`;
      const pods = await c.untilList(Pod, { labelSelector }, (all) => all.some(isWanted));
      return pods.find(isWanted) as Pod;
    },
    async clientOf({ metadata, spec }) {
      const uid = metadata?.uid ?? '';
      const serviceAccount = { namespace, name: spec?.serviceAccountName ?? '' };
      const client = clients.get(uid) ?? (await c.clientFor({ serviceAccount, pod: metadata?.name ?? '' }));
      clients.set(uid, client);
      return client;
    },
    report(pod, devices, members = {}) {
      const now = formatMicroTime(clock.now());
      const discoveredDevices = devices.map((device, index) =>
        typeof device === 'string'
          ? { devicePath: `/dev/bus/usb/001/00${index + 1}`, serialNumber: device, lastSeen: now }
          : device,
      );
      const report = {
        hsmDeviceName: pod.metadata?.labels?.[LABELS.device],
        reportingNode: pod.spec?.nodeName,
        discoveredDevices,
        lastReportTime: now,
        discoveryStatus: 'completed',
        ...members,
      };
      return own.writeReport(pod, JSON.stringify(report));
    },
    async writeReport(pod, text) {
      const { name = '', uid } = pod.metadata ?? {};
      const client = await own.clientOf(pod);
      const body = { metadata: { uid, annotations: { [REPORT_ANNOTATION]: text } } };
      // The API server may honour the RoleBinding of a new device only after a moment.
      await vi.waitFor(() => client.patch(Pod, { namespace, name }, { type: 'merge', body }), {
        timeout: 20_000,
        interval: 50,
      });
    },
    untilPool: (device, test) => c.until(HSMPool, { name: poolName(device) }, (pool) => test(pool.status ?? {}, pool)),
    pool: (device) => admin.get(HSMPool, { namespace, name: poolName(device) }),
    async untilEvent(name, reason, text = '') {
      const isWanted = ({ regarding, reason: found, note }: Event): boolean =>
        regarding?.name === name && found === reason && (note?.includes(text) ?? false);
      const events = await c.untilList(Event, {}, (all) => all.some(isWanted));
      return events.find(isWanted)?.note ?? '';
    },
    async eventsOf(name) {
      const { items } = await admin.list(Event, { namespace });
      return items.flatMap(({ regarding, reason }) => (regarding?.name === name && reason ? [reason] : [])).sort();
    },
  };
  const all: HsmCluster = Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
  for (let node = 0; node < nodeCount; node += 1) await own.addNode();
  return all;
}

/** devicesIn returns the devices of a pool as `[id, node, available, health]`. */
export function devicesIn({ status }: HSMPool): readonly (readonly unknown[])[] {
  return (status?.aggregatedDevices ?? []).map(({ id, nodeName, available, health }: DeviceRow) => [
    id,
    nodeName,
    available,
    health,
  ]);
}

/** podsIn returns the reporting pods of a pool as `[name, fresh]`. */
export function podsIn({ status }: HSMPool): readonly (readonly unknown[])[] {
  return (status?.reportingPods ?? []).map(({ podName, fresh }: PodRow) => [podName, fresh]);
}
