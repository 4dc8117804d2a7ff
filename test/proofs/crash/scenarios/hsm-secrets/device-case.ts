import { setTimeout as pause } from 'node:timers/promises';
import { HSMDevice, HSMPool } from '@bowline/hsm-secrets';
import {
  DaemonSet,
  type KubernetesObject,
  keyOf,
  keyString,
  NetworkPolicy,
  Pod,
  type Resource,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '@bowline/kubernetes';
import { formatMicroTime, pick, type Random } from '@bowline/machinery';
import { type Client, isNotFound } from '@bowline/runtime/client';
import type { Identified } from '../../fingerprint.ts';
import { inParallel } from '../../in-parallel.ts';
import type { CrashCase } from '../../scenario.ts';
import { type ExpectedDevice, type Found, judge } from './judge.ts';
import { DEVICE_SPEC, namespaces } from './world.ts';

const TIMEOUT_MS = 180_000;
const BETWEEN_CHECKS_MS = 100;
/** Two heartbeats after a start, a silent pod is stale. */
const HEARTBEAT_MS = 30_000;
/** A pool, six objects, a status and an event. */
const REQUESTS_PER_DEVICE = 9;
const REPORT = 'hsm.j5t.io/device-report';
const CREATED: readonly Resource<KubernetesObject>[] = [ServiceAccount, RoleBinding, NetworkPolicy, Secret, DaemonSet];

/** actions are those during which the operator is killed. */
export const actions: readonly string[] = ['creation', 'new reports', 'suspension', 'deletion'];

/** DeviceCaseOptions configures a case. */
export interface DeviceCaseOptions {
  readonly admin: Client;
  /** The number of HSMDevices. */
  readonly devices: number;
  readonly action: string;
  /** The prefix of all names in it. */
  readonly name: string;
}

interface CaseDevice {
  /** The key of the HSMDevice and of its pod. */
  readonly key: { readonly namespace: string; readonly name: string };
  /** Whether the action suspends or deletes it. */
  readonly isConcerned: boolean;
  serials: readonly string[];
  lost: readonly string[];
}

/** DeviceCase is the HSMDevices, their pods with reports, and what the operator creates, from creation to deletion. */
export class DeviceCase implements CrashCase {
  readonly requests: number;
  readonly #options: DeviceCaseOptions;
  readonly #devices: CaseDevice[];
  #hasActed = false;
  #reportedAt = 0;
  #revision = 0;

  private constructor(options: DeviceCaseOptions) {
    this.#options = options;
    this.#devices = Array.from({ length: options.devices }, (_, index) => this.#device(index));
    const concerned = this.#devices.filter(({ isConcerned }) => isConcerned).length;
    this.requests = concerned * (options.action === 'creation' ? REQUESTS_PER_DEVICE : 1);
  }

  /** begin creates the prerequisites of the action. */
  static async begin(options: DeviceCaseOptions): Promise<DeviceCase> {
    const one = new DeviceCase(options);
    if (options.action !== 'creation') {
      await one.#create(one.#devices);
      await one.done(AbortSignal.timeout(TIMEOUT_MS));
    }
    return one;
  }

  isOwn({ name }: Identified): boolean {
    return name.startsWith(`${this.#options.name}-`);
  }

  async act(): Promise<void> {
    const { admin, action } = this.#options;
    const concerned = this.#devices.filter(({ isConcerned }) => isConcerned);
    this.#hasActed = true;
    if (action === 'creation') await this.#create(this.#devices);
    else if (action === 'new reports') await inParallel(concerned, (each) => this.#change(each));
    else if (action === 'suspension')
      await inParallel(concerned, ({ key }) =>
        admin.patch(HSMDevice, key, { type: 'merge', body: { spec: { suspend: true } } }),
      );
    else await inParallel(concerned, ({ key }) => this.#delete(key));
  }

  async progress(): Promise<number> {
    const failing = new Set((await this.#problems()).map((problem) => problem.split(' ')[1]));
    const all = this.#devices.length * 2;
    return Math.max(0, 1 - failing.size / all);
  }

  async meanwhile(random: Random): Promise<void> {
    const { admin, action } = this.#options;
    const staying = this.#devices.filter(({ isConcerned }) => !isConcerned || action !== 'deletion');
    const one = pick(random, staying);
    const { namespace, name } = one.key;
    const disturbances: readonly (() => Promise<unknown>)[] = [
      () => admin.delete(ServiceAccount, { namespace, name: `${name}-agent` }),
      () => admin.delete(HSMPool, { namespace, name: `${name}-pool` }),
      () =>
        admin.patch(
          NetworkPolicy,
          { namespace, name: `${name}-agent` },
          { type: 'merge', body: { metadata: { labels: { 'hsm.j5t.io/device': 'drift' } } } },
        ),
      () => this.#change(one),
    ];
    // Some objects do not exist yet.
    await pick(random, disturbances)().catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  /** A process that starts gives pods a limited time for their next report. */
  async done(signal: AbortSignal): Promise<void> {
    while ((await this.#problems()).length > 0) {
      signal.throwIfAborted();
      if (performance.now() - this.#reportedAt > HEARTBEAT_MS) await this.#heartbeat();
      await pause(BETWEEN_CHECKS_MS, undefined, { signal });
    }
  }

  async problems(): Promise<readonly string[]> {
    // The present state may be the work of an earlier process: the last one must have checked it too.
    const last = this.#device(this.#devices.length, false);
    this.#devices.push(last);
    await this.#create([last]);
    await this.#heartbeat();
    await this.done(AbortSignal.timeout(TIMEOUT_MS));
    return this.#problems();
  }

  async end(): Promise<void> {
    await inParallel(this.#devices, ({ key }) => this.#delete(key));
    const isGone = async (): Promise<boolean> => {
      const { pools, objects } = await this.#found();
      return pools.size === 0 && objects.size === 0;
    };
    while (!(await isGone())) await pause(BETWEEN_CHECKS_MS);
  }

  /** #device returns an HSMDevice of the case; every other one is suspended or deleted. */
  #device(index: number, isConcerned = this.#concernsAll || index % 2 === 1): CaseDevice {
    const namespace = namespaces[index % namespaces.length] ?? '';
    const name = `${this.#options.name}-${String(index).padStart(3, '0')}`;
    return { key: { namespace, name }, isConcerned, serials: [`${name}-s1`, `${name}-s2`], lost: [] };
  }

  get #concernsAll(): boolean {
    return this.#options.action === 'creation' || this.#options.action === 'new reports';
  }

  async #create(devices: readonly CaseDevice[]): Promise<void> {
    const { admin } = this.#options;
    this.#reportedAt = performance.now();
    await inParallel(devices, async (each) => {
      const { key } = each;
      await admin.create(HSMDevice, HSMDevice.withDefaults({ metadata: key, spec: DEVICE_SPEC }));
      await admin.create(Pod, {
        metadata: {
          ...key,
          labels: { 'app.kubernetes.io/component': 'discovery', 'hsm.j5t.io/device': key.name },
          annotations: { [REPORT]: this.#report(each) },
        },
        spec: { nodeName: 'node', containers: [{ name: 'discovery', image: 'example.test/bowline:1' }] },
      });
    });
  }

  /** #change replaces one of the devices by another. */
  async #change(each: CaseDevice): Promise<void> {
    const { name } = each.key;
    const [gone = '', ...kept] = each.serials;
    each.lost = [...each.lost, gone];
    each.serials = [...kept, `${name}-r${++this.#revision}`];
    await this.#write(each);
  }

  /** #heartbeat repeats the reports of all pods. */
  async #heartbeat(): Promise<void> {
    this.#reportedAt = performance.now();
    await inParallel(this.#devices, (each) =>
      this.#write(each).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    );
  }

  async #write(each: CaseDevice): Promise<void> {
    const body = { metadata: { annotations: { [REPORT]: this.#report(each) } } };
    await this.#options.admin.patch(Pod, each.key, { type: 'merge', body });
  }

  #report({ key, serials }: CaseDevice): string {
    return JSON.stringify({
      hsmDeviceName: key.name,
      reportingNode: 'node',
      discoveredDevices: serials.map((serialNumber, index) => ({ devicePath: `/dev/hsm${index}`, serialNumber })),
      lastReportTime: formatMicroTime(Date.now()),
      discoveryStatus: 'completed',
    });
  }

  async #delete(key: CaseDevice['key']): Promise<void> {
    const { admin } = this.#options;
    const gone = (error: unknown): void => {
      if (!isNotFound(error)) throw error;
    };
    await admin.delete(HSMDevice, key, { propagationPolicy: 'Background' }).catch(gone);
    await admin.delete(Pod, key, { gracePeriodSeconds: 0 }).catch(gone);
  }

  async #problems(): Promise<readonly string[]> {
    return judge(
      await this.#found(),
      this.#devices.map((each) => this.#expected(each)),
    );
  }

  #expected({ key, isConcerned, serials, lost }: CaseDevice): ExpectedDevice {
    const { action } = this.#options;
    const after = { suspension: 'suspended', deletion: 'gone' } as const;
    const state = this.#hasActed && isConcerned && action in after ? after[action as keyof typeof after] : 'active';
    return { key: keyString(key), state, serials, lost, podName: key.name };
  }

  async #found(): Promise<Found> {
    const { admin, name } = this.#options;
    const isOurs = ({ metadata }: KubernetesObject): boolean => metadata?.name?.startsWith(`${name}-`) ?? false;
    const pools = (await admin.list(HSMPool)).items.filter(isOurs);
    const lists = await Promise.all(
      CREATED.map(async (kind) =>
        (await admin.list(kind)).items.filter(isOurs).map((each) => `${kind.kind} ${keyString(keyOf(each))}`),
      ),
    );
    return { pools: new Map(pools.map((pool) => [keyString(keyOf(pool)), pool])), objects: new Set(lists.flat()) };
  }
}
