import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { Pod, type PolicyRule } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { type Client, TransportError } from '@bowline/runtime/client';
import { installCustomResourceDefinitions, operatorIdentity } from '@bowline/runtime/install';
import { silentLog } from '@bowline/runtime/manager';
import type { WrittenOf } from '@bowline/runtime/resource';
import { expect, vi } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { GROUP, OPERATOR, REPORT_ANNOTATION } from '../api/names.ts';
import { parseReport } from '../reports/parse-report.ts';
import type { Report } from '../reports/report.ts';
import { HostDevices } from './host-devices.ts';
import { createHostTree, type HostTree } from './host-tree.test-support.ts';
import { type DiscoveryOptions, runDiscovery } from './run-discovery.ts';

/** DISCOVERY_RULES are the permissions of a discovery pod. */
export const DISCOVERY_RULES: readonly PolicyRule[] = [
  { apiGroups: [GROUP], resources: ['hsmdevices', 'hsmpools'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'patch'] },
];

/** The time limit for what happens on a real API server and in real file systems. */
const waiting = { timeout: 60_000, interval: 20 };

/** DiscoveryCluster is a test cluster with a pod `scanner` for discovery, and a generated node. */
export interface DiscoveryCluster extends Cluster {
  readonly host: HostTree;
  readonly clock: VirtualClock;
  readonly account: { readonly namespace: string; readonly name: string };
  readonly nodeName: string;
  /** createPod creates the pod again, on the same node. */
  createPod(): Promise<Pod>;
  /** podClient returns a client with a token that is bound to the pod. */
  podClient(): Promise<Client>;
  createDevice(spec?: Partial<WrittenOf<typeof HSMDevice>['spec']>): Promise<void>;
  patchDevice(body: object): Promise<void>;
  createPool(gracePeriod: string): Promise<void>;
  /** stored returns the report in the annotation of the pod. */
  stored(): Promise<Report | undefined>;
  /** untilReport waits for a report, while time passes in steps, unless `stepMs` is 0. Defaults to steps of 250 ms. */
  untilReport(matching: object, options?: { readonly stepMs?: number }): Promise<Report>;
  /** discover runs discovery until the test ends. */
  discover(options?: Partial<DiscoveryOptions>): Promise<RunningDiscovery>;
}

/** RunningDiscovery is a discovery in a test. */
export interface RunningDiscovery {
  /** The requests that it has sent, as `verb resource`. */
  readonly requests: readonly string[];
  readonly logged: readonly string[];
  /** The device paths of each call of onDevices. */
  readonly devices: readonly (readonly string[])[];
  /** patches returns how many patches it has sent. */
  patches(): number;
  stop(): Promise<void>;
}

/** discoveryCluster creates the pod and the node of a discovery. */
export async function discoveryCluster(rules = DISCOVERY_RULES): Promise<DiscoveryCluster> {
  const c = await cluster({ prefix: 'hsm' });
  const { fieldManagers } = operatorIdentity(OPERATOR);
  await installCustomResourceDefinitions(c.admin, [HSMDevice, HSMPool], { fieldManager: fieldManagers.crds });
  const host = await createHostTree();
  c.onDispose(async () => await host[Symbol.asyncDispose]());
  const clock = new VirtualClock();
  const { namespace, name } = await c.serviceAccount({ rules });
  const account = { namespace, name };
  const key = { namespace, name: 'scanner' };
  const containers = [{ name: 'discovery', image: 'bowline' }];
  const spec = { serviceAccountName: account.name, containers };
  await c.admin.create(Pod, { metadata: key, spec });
  const { spec: scheduled } = await c.until(Pod, key, (pod) => Boolean(pod.spec?.nodeName));
  const nodeName = scheduled?.nodeName ?? '';

  const stored = async (): Promise<Report | undefined> => {
    const text = (await c.admin.get(Pod, key)).metadata?.annotations?.[REPORT_ANNOTATION];
    const result = text === undefined ? undefined : parseReport(text);
    if (result && 'problem' in result) throw new TypeError(result.problem);
    return result?.report;
  };
  const more: Omit<DiscoveryCluster, keyof Cluster> = {
    ...{ host, clock, account, nodeName, stored },
    createPod: () => c.admin.create(Pod, { metadata: key, spec: { ...spec, nodeName } }),
    podClient: () => c.clientFor({ serviceAccount: account, pod: key.name }),
    async createDevice(change = {}) {
      const device = { metadata: { namespace, name: 'pico-hsm' }, spec: { deviceType: 'PicoHSM', ...change } };
      await c.admin.create(HSMDevice, device);
    },
    async patchDevice(body) {
      await c.admin.patch(HSMDevice, { namespace, name: 'pico-hsm' }, { type: 'merge', body });
    },
    async createPool(gracePeriod) {
      const pool = { metadata: { namespace, name: 'pico-hsm-pool' }, spec: { hsmDeviceRef: 'pico-hsm', gracePeriod } };
      await c.admin.create(HSMPool, pool);
    },
    untilReport: (matching, { stepMs = 250 } = {}) =>
      vi.waitFor(async () => {
        if (stepMs > 0) await clock.advance(stepMs);
        const report = await stored();
        expect(report).toMatchObject(matching);
        return report as Report;
      }, waiting),
    async discover(options = {}) {
      const stop = new AbortController();
      const [requests, logged, devices]: [string[], string[], string[][]] = [[], [], []];
      const record = (message: string): void => void logged.push(message);
      const log = { ...silentLog, info: record, warn: record, error: record };
      const client = (await more.podClient()).checked(
        ({ verb, resource }) => void requests.push(`${verb} ${resource?.plural}`),
      );
      const running = runDiscovery({
        client,
        device: 'pico-hsm',
        pod: key,
        nodeName,
        source: new HostDevices({ sysfs: host.sysfs, dev: host.dev, run: host.run, clock, log }),
        clock,
        log: { ...log, with: () => log },
        onDevices: (found) => void devices.push(found.map(({ devicePath }) => devicePath)),
        ...options,
        signal: stop.signal,
      });
      const end = async (): Promise<void> => {
        stop.abort();
        await running;
      };
      c.onDispose(end);
      return {
        ...{ requests, logged, devices, stop: end },
        patches: () => requests.filter((request) => request === 'patch pods').length,
      };
    },
  };
  return Object.defineProperties({ ...c, ...more }, Object.getOwnPropertyDescriptors(c));
}

/** Outage is a connection to the API server that can be cut. */
export class Outage {
  #cut = new AbortController();
  #isDown = false;

  /** begin ends all watches, and fails all requests until `end`. */
  begin(): void {
    this.#isDown = true;
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  end(): void {
    this.#isDown = false;
  }

  /** through returns the client that discovery gets. */
  through(client: Client): DiscoveryOptions['client'] {
    const check = (): void => {
      if (this.#isDown) throw new TransportError('BOWLINE_TRANSPORT_UNREACHABLE', 'the connection was cut by the test');
    };
    const checked = client.checked(check);
    const watch: Client['watch'] = (kind, options = {}) => {
      const signals = [this.#cut.signal, ...(options.signal ? [options.signal] : [])];
      return checked.watch(kind, { ...options, signal: AbortSignal.any(signals) });
    };
    return {
      watch,
      list: (kind, options) => checked.list(kind, options),
      get: (kind, key, options) => checked.get(kind, key, options),
      patch: (kind, key, patch, options) => checked.patch(kind, key, patch, options),
    };
  }
}
