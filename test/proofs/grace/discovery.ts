import { apiVersionOf, DaemonSet, Pod } from '@bowline/kubernetes';
import { formatMicroTime, pick, type Random, type VirtualClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import { labelsOf, REPORT_ANNOTATION } from '../../../operators/hsm-secrets/src/api/names.ts';
import type { TruePod, TrueReport, Truth } from './truth.ts';

/** Plugged is a device on a node. */
export interface Plugged {
  readonly serialNumber: string | undefined;
  readonly devicePath: string;
  node: string | undefined;
  isAvailable: boolean;
}

/** LivePod is a discovery pod that exists. */
export interface LivePod {
  readonly pod: TruePod;
  readonly isLabelled: boolean;
  /** Whether it reports on time; otherwise it is silent. */
  isOnTime: boolean;
  isTerminating: boolean;
  beatAt: number;
  text: string;
}

/** DiscoveryOptions configures the discovery pods of a case. */
export interface DiscoveryOptions {
  readonly admin: Client;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly truth: Truth;
  readonly namespace: string;
  readonly device: string;
  readonly heartbeatMs: number;
  /** The DaemonSet that controls the pods; undefined for pods made by hand. */
  readonly daemonSet: { readonly name: string; readonly uid: string } | undefined;
  /** Whether the last status has a fresh row of a pod. */
  hasFresh(podUID: string): boolean;
}

/** Discovery plays the discovery pods, and keeps the truth about them. */
export class Discovery {
  readonly plugged: Plugged[] = [];
  live: LivePod[] = [];
  /** How far the clocks of nodes are ahead. */
  readonly clocks = new Map<string, number>();
  readonly #options: DiscoveryOptions;
  #created = 0;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** create starts a pod on a node, with a new name unless one is given. */
  async create(node: string, name = `discovery-${this.#created + 1}`): Promise<LivePod> {
    const { admin, namespace, device, daemonSet, random, clock, truth } = this.#options;
    this.#created += 1;
    // A pod of the DaemonSet has all labels.
    const isLabelled = daemonSet !== undefined || random.next() < 0.7;
    const { 'hsm.j5t.io/device': _, ...unlabelled } = labelsOf('discovery', device);
    const owner = daemonSet && { apiVersion: apiVersionOf(DaemonSet), kind: DaemonSet.kind, ...daemonSet };
    const created = await admin.create(Pod, {
      metadata: {
        namespace,
        name,
        labels: isLabelled ? labelsOf('discovery', device) : unlabelled,
        ...(owner ? { ownerReferences: [{ ...owner, controller: true }] } : {}),
      },
      spec: { nodeName: node, containers: [{ name: 'discovery', image: 'example.test/discovery:1' }] },
    });
    const pod: TruePod = { name, uid: created.metadata?.uid ?? '', node, reports: [] };
    const one = { pod, isLabelled, isOnTime: true, isTerminating: false, beatAt: clock.now(), text: '' };
    truth.pods.push(pod);
    this.live.push(one);
    return one;
  }

  /** report writes what the pod finds on its node now. */
  async report(one: LivePod, status: TrueReport['status'] = 'completed'): Promise<void> {
    const { clock } = this.#options;
    const { pod } = one;
    const clockAheadMs = this.clocks.get(pod.node) ?? 0;
    const here = status === 'completed' ? this.plugged.filter(({ node }) => node === pod.node) : [];
    const time = formatMicroTime(clock.now() + clockAheadMs);
    const text = JSON.stringify({
      ...this.#header(pod.node, time),
      discoveryStatus: status,
      ...(status === 'error' ? { error: 'cannot read the bus' } : {}),
      discoveredDevices: here.map(({ serialNumber, devicePath, isAvailable }) => ({
        devicePath,
        ...(serialNumber === undefined ? {} : { serialNumber }),
        // The default is that it is available.
        ...(isAvailable ? {} : { available: false }),
        lastSeen: time,
      })),
    });
    const devices = new Map(here.map((each) => [idOf(each, pod.node), each.isAvailable]));
    one.beatAt = clock.now();
    if (text === one.text) return;
    // Before the write: a manager may act on it before the response arrives.
    pod.reports.push({ at: clock.now(), status, devices, clockAheadMs });
    await this.#write(one, text);
  }

  /** reportNonsense writes a report that does not count. */
  async reportNonsense(one: LivePod): Promise<void> {
    const { random, clock } = this.#options;
    const time = formatMicroTime(clock.now());
    const valid = { ...this.#header(one.pod.node, time), discoveryStatus: 'completed', discoveredDevices: [] };
    const foreign = { devicePath: '/dev/x', serialNumber: 'S1', nodeName: 'elsewhere' };
    const nonsense = [
      'nonsense',
      JSON.stringify({ ...valid, hsmDeviceName: 'another' }),
      JSON.stringify({ ...valid, reportingNode: 'elsewhere' }),
      JSON.stringify({ ...valid, discoveredDevices: [foreign] }),
      JSON.stringify({ ...valid, discoveryStatus: 'unknown' }),
      JSON.stringify({ ...valid, error: 'x'.repeat(70_000) }),
    ];
    await this.#write(one, pick(random, nonsense));
  }

  /** end deletes a pod, lets it fail, or begins to delete it: then it still reports. */
  async end(one: LivePod, how: 'deleted' | 'failed' | 'terminating'): Promise<void> {
    const { admin, namespace, clock, hasFresh } = this.#options;
    const { pod } = one;
    const key = { namespace, name: pod.name };
    if (how === 'terminating') {
      one.isTerminating = true;
      await admin.delete(Pod, key);
      return;
    }
    pod.wasFresh = hasFresh(pod.uid);
    pod.goneAt = clock.now();
    this.live = this.live.filter((each) => each !== one);
    if (how === 'deleted') await admin.delete(Pod, key, { gracePeriodSeconds: 0 });
    else
      await admin.patch(Pod, key, { type: 'merge', body: { status: { phase: 'Failed' } } }, { subresource: 'status' });
  }

  /** nextBeatAt is when the next heartbeat is due. */
  get nextBeatAt(): number {
    const { heartbeatMs } = this.#options;
    const onTime = this.live.filter(({ isOnTime }) => isOnTime);
    return Math.min(Number.POSITIVE_INFINITY, ...onTime.map(({ beatAt }) => beatAt + heartbeatMs));
  }

  /** beat writes the heartbeats that are due. */
  async beat(): Promise<void> {
    const { clock, heartbeatMs } = this.#options;
    const due = this.live.filter(({ isOnTime, beatAt }) => isOnTime && beatAt + heartbeatMs <= clock.now());
    for (const one of due) await this.report(one);
  }

  #header(node: string, time: string): Readonly<Record<string, unknown>> {
    return { hsmDeviceName: this.#options.device, reportingNode: node, lastReportTime: time };
  }

  async #write(one: LivePod, text: string): Promise<void> {
    const { admin, namespace } = this.#options;
    one.text = text;
    const body = { metadata: { annotations: { [REPORT_ANNOTATION]: text } } };
    await admin.patch(Pod, { namespace, name: one.pod.name }, { type: 'merge', body });
  }
}

/** idOf returns the identity of a device in the pool. */
function idOf({ serialNumber, devicePath }: Plugged, node: string): string {
  return serialNumber ?? `${node}:${devicePath}`;
}
