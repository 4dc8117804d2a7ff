import { until } from '@bowline/control-plane/testing';
import { DaemonSet } from '@bowline/kubernetes';
import { integerBelow, pick, type Random, seededRandom } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { HSMDevice } from '../../../operators/hsm-secrets/src/api/hsm-device.ts';
import { HSMPool } from '../../../operators/hsm-secrets/src/api/hsm-pool.ts';
import { discoveryName } from '../../../operators/hsm-secrets/src/api/names.ts';
import { heartbeatMs } from '../../../operators/hsm-secrets/src/reports/heartbeat.ts';
import { Discovery, type LivePod } from './discovery.ts';
import { Judge } from './judge.ts';
import { Managers } from './managers.ts';
import { Truth } from './truth.ts';
import type { World } from './world.ts';

/** CaseResult is what a case has found. */
export interface CaseResult {
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

const DEVICE = 'pico';
const MIN_STEPS = 10;
const MAX_STEPS = 30;
/** Without the events of a Lease every two seconds, longer periods cost nothing. */
const ELECTED_GRACE_SECONDS = [3, 9, 21];
const GRACE_SECONDS = [3, 3, 9, 9, 30, 30, 60, 300];
const CLOCK_OFFSETS_MS = [0, 0, 20_000, -20_000, 120_000, -120_000, 600_000, -600_000];
const MAX_VIOLATIONS = 3;
const MAX_WAITS = 1_000;

/** runCase plays random steps of nodes, pods and managers, and judges every status of the pool meanwhile. */
export async function runCase(world: World, seed: number): Promise<CaseResult> {
  const one = new GraceCase(world, seed);
  try {
    await one.begin();
    await one.play();
    await one.finish();
  } catch (error) {
    one.violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  await one.end();
  return { violations: one.violations.slice(0, MAX_VIOLATIONS), counts: one.counts };
}

class GraceCase {
  readonly violations: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #world: World;
  readonly #random: Random;
  readonly #namespace: string;
  readonly #nodes: readonly string[];
  readonly #graceSeconds: number;
  readonly #isElected: boolean;
  readonly #requiresOwner: boolean;
  readonly #heartbeatMs: number;
  readonly #truth: Truth;
  readonly #judge: Judge;
  readonly #managers: Managers;
  readonly #log: string[] = [];
  readonly #end = new AbortController();
  #history: Promise<void> = Promise.resolve();
  #discovery: Discovery | undefined;

  constructor(world: World, seed: number) {
    const random = seededRandom(seed);
    this.#world = world;
    this.#random = random;
    this.#namespace = `case-${seed}`;
    this.#isElected = this.#happens(0.4);
    this.#requiresOwner = this.#happens(0.5);
    this.#nodes = ['node-a', 'node-b', 'node-c'].slice(0, 1 + integerBelow(random, 3));
    this.#graceSeconds = pick(random, this.#isElected ? ELECTED_GRACE_SECONDS : GRACE_SECONDS);
    this.#heartbeatMs = heartbeatMs(this.#graceSeconds * 1_000);
    this.#truth = new Truth(this.#graceSeconds * 1_000, this.#heartbeatMs);
    this.#judge = new Judge(this.#truth);
    this.#managers = new Managers({
      controlPlane: world.controlPlane,
      clock: world.clock,
      random,
      namespace: world.managerNamespace,
      config: { image: 'example.test/bowline:1', requireDaemonSetOwner: this.#requiresOwner },
      isElected: this.#isElected,
    });
  }

  /** begin creates the HSMDevice, starts a manager, and a pod per node. */
  async begin(): Promise<void> {
    const { admin, clock } = this.#world;
    const namespace = this.#namespace;
    await this.#world.enter(namespace);
    await this.#follow();
    const spec = { deviceType: 'PicoHSM', gracePeriod: `${this.#graceSeconds}s` };
    await admin.create(HSMDevice, HSMDevice.withDefaults({ metadata: { namespace, name: DEVICE }, spec }));
    await this.#managers.start();
    // The Lease of the previous case may have to expire first.
    for (let wait = 0; wait < 100 && this.#managers.healthySince === undefined; wait += 1) {
      await this.#settle();
      if (this.#managers.healthySince === undefined) await clock.advance(clock.nextWorkInMs ?? 1_000);
    }
    const { metadata } = await until(admin, DaemonSet, { namespace, name: discoveryName(DEVICE) }, () => true);
    const daemonSet = { name: discoveryName(DEVICE), uid: metadata?.uid ?? '' };
    this.#discovery = new Discovery({
      admin,
      clock,
      random: this.#random,
      truth: this.#truth,
      namespace,
      device: DEVICE,
      heartbeatMs: this.#heartbeatMs,
      daemonSet: this.#requiresOwner ? daemonSet : undefined,
      hasFresh: (uid) => this.#judge.hasFresh(uid),
    });
    for (const serialNumber of ['S1', 'S2', 'S3', undefined]) {
      const devicePath = `/dev/bus/usb/001/00${this.#pods.plugged.length + 1}`;
      const node = this.#happens(0.8) ? pick(this.#random, this.#nodes) : undefined;
      this.#pods.plugged.push({ serialNumber, devicePath, node, isAvailable: true });
    }
    for (const node of this.#nodes) await this.#createPod(node);
    await this.#settle();
  }

  async play(): Promise<void> {
    const steps = MIN_STEPS + integerBelow(this.#random, MAX_STEPS - MIN_STEPS + 1);
    for (let step = 0; step < steps && this.violations.length === 0; step += 1) {
      await this.#step();
      await this.#settle();
    }
  }

  /** finish lets all pods fall silent: a manager that leads must lose everything by timers alone. */
  async finish(): Promise<void> {
    if (this.violations.length > 0) return;
    const { graceMs } = this.#truth;
    this.#managers.endOutage();
    for (let wait = 0; this.#managers.healthySince === undefined; wait += 1) {
      if (wait === MAX_WAITS) throw new Error('no manager leads, although all could');
      // A manager that has lost its Lease exits.
      if (this.#managers.count === 0) await this.#managers.start();
      else await this.#advance(this.#world.clock.nextWorkInMs ?? 1_000);
      await this.#settle();
    }
    for (const one of this.#pods.live) one.isOnTime = false;
    const boundMs = graceMs + 2 * this.#heartbeatMs;
    await this.#advance(boundMs + 1);
    if (this.violations.length > 0) return;
    const isAvailable = ({ status }: HSMPool): boolean => status?.availableDevices !== 0;
    if (isAvailable(await this.#pool())) this.#fail('a device is available, although no pod has reported for long');
    await this.#advance(boundMs + 1);
    if (this.violations.length > 0) return;
    const { status } = await this.#pool();
    if (status?.totalDevices !== 0) this.#fail('a device is listed, although no pod has reported for very long');
  }

  async end(): Promise<void> {
    await this.#managers.stopAll();
    this.#end.abort();
    await this.#history;
    await this.#world.leave(this.#namespace);
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const pods = this.#pods;
    const one = pods.live.length > 0 ? pick(random, pods.live) : undefined;
    const node = pick(random, this.#nodes);
    const device = pick(random, pods.plugged);
    const isObserved = this.#managers.healthySince !== undefined;
    const steps: readonly (readonly [number, string, () => unknown])[] = [
      [30, 'advance', () => this.#advance(this.#someTime())],
      [4, 'delete', () => one && pods.end(one, 'deleted')],
      [2, 'fail', () => one && pods.end(one, 'failed')],
      [2, 'terminate', () => one && !one.isTerminating && pods.end(one, 'terminating')],
      [4, 'replace', () => one && this.#replace(one)],
      [4, 'create', () => this.#hasRoom(node) && this.#createPod(node)],
      [3, 'silence', () => one && Object.assign(one, { isOnTime: false })],
      [3, 'return', () => one && pods.report(Object.assign(one, { isOnTime: true }))],
      [5, 'unplug', () => this.#plug(device, undefined)],
      [6, 'plug', () => this.#plug(device, node)],
      [2, 'toggle', () => this.#toggle(device)],
      [3, 'report', () => one && pods.report(one)],
      // A report that no manager has observed does not count once another one replaces it.
      [2, 'discovering', () => one && isObserved && pods.report(one, 'discovering')],
      [2, 'error', () => one && isObserved && pods.report(one, 'error')],
      [3, 'invalid', () => one?.isLabelled && isObserved && pods.reportNonsense(one)],
      [2, 'clock', () => pods.clocks.set(node, pick(random, CLOCK_OFFSETS_MS))],
      [3, 'cut', () => this.#cut('lost')],
      [2, 'expire', () => this.#cut('expired')],
      [2, 'outage', () => this.#beginOutage()],
      [4, 'recover', () => this.#managers.endOutage()],
      [2, 'stop', () => this.#managers.stop()],
      [2, 'kill', () => this.#managers.kill()],
      [this.#managers.count === 0 ? 40 : 5, 'start', () => this.#startManager()],
    ];
    const [, name, run] = weighted(random, steps);
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    this.#log.push(
      `${this.#world.clock.now()} ${name} ${one?.pod.name ?? ''}@${one?.pod.node ?? ''} ${node} ${device.serialNumber ?? device.devicePath}`,
    );
    await run();
  }

  /** #someTime is a time around which something changes by itself. */
  #someTime(): number {
    const { graceMs, resumeMs, pods, starts } = this.#truth;
    const now = this.#world.clock.now();
    const deadlines = [
      ...pods.flatMap(({ reports, goneAt }) => [reports.at(-1)?.at ?? now, goneAt ?? now]),
      now,
    ].flatMap((at) => [at + graceMs, at + 2 * graceMs]);
    const ahead = [...deadlines, (starts.at(-1) ?? now) + resumeMs].filter((at) => at > now);
    const around = [-1, 0, 0, 1, 1];
    const toDeadline = pick(this.#random, ahead) - now + pick(this.#random, around);
    const usual = pick(this.#random, [1, this.#heartbeatMs / 2, this.#heartbeatMs, resumeMs + 1, graceMs / 2]);
    return Math.max(1, Math.floor(this.#happens(0.5) ? toDeadline : usual));
  }

  /** #advance moves time from one timer or heartbeat to the next. */
  async #advance(ms: number): Promise<void> {
    const { clock } = this.#world;
    const target = clock.monotonic() + ms;
    while (clock.monotonic() < target && this.violations.length === 0) {
      const toBeat = Math.max(0, this.#pods.nextBeatAt - clock.now());
      await clock.advance(Math.min(target - clock.monotonic(), toBeat, clock.nextWorkInMs ?? ms));
      // A timer may be due now because of what the last one did.
      await this.#settle();
      await this.#pods.beat();
      await this.#settle();
    }
  }

  /** #settle waits until the managers have no work left, and judges the status that they leave. */
  async #settle(): Promise<void> {
    if (await this.#managers.settle()) this.#truth.starts.push(this.#world.clock.now());
    const since = this.#managers.healthySince;
    if (since === undefined) return;
    this.counts.judged = (this.counts.judged ?? 0) + 1;
    for (const problem of this.#judge.settled(this.#world.clock.now(), since)) this.#fail(problem);
  }

  /** #follow judges every status that the pool ever has. */
  async #follow(): Promise<void> {
    const { admin, clock } = this.#world;
    const stream = await admin.watch(HSMPool, { namespace: this.#namespace, signal: this.#end.signal });
    const follow = async (): Promise<void> => {
      try {
        for await (const event of stream) {
          if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
          this.counts.statuses = (this.counts.statuses ?? 0) + 1;
          const { status = {} } = event.object;
          const clockSkew = findCondition(event.object, 'ClockSkew')?.message;
          for (const problem of this.#judge.status(clock.now(), { ...status, clockSkew })) this.#fail(problem);
        }
      } catch (error) {
        if (!this.#end.signal.aborted) throw error;
      }
    };
    this.#history = follow();
    this.#history.catch((error: unknown) => this.#fail(String(error)));
  }

  async #createPod(node: string, name?: string): Promise<void> {
    const created = await this.#pods.create(node, name);
    if (this.#happens(0.3)) {
      await this.#settle();
      await this.#pods.report(created, 'discovering');
    }
    await this.#settle();
    if (this.#happens(0.8)) await this.#pods.report(created);
  }

  async #replace(one: LivePod): Promise<void> {
    await this.#pods.end(one, 'deleted');
    if (this.#happens(0.5)) await this.#settle();
    await this.#createPod(one.pod.node, this.#happens(0.3) ? one.pod.name : undefined);
  }

  #hasRoom(node: string): boolean {
    return this.#pods.live.filter(({ pod }) => pod.node === node).length < 2;
  }

  /** Discovery notices a change at once, or with the next scan. */
  async #plug(device: Discovery['plugged'][number], node: string | undefined): Promise<void> {
    const concerned = [device.node, node];
    device.node = node;
    for (const one of this.#pods.live)
      if (one.isOnTime && concerned.includes(one.pod.node) && this.#happens(0.7)) await this.#pods.report(one);
  }

  async #toggle(device: Discovery['plugged'][number]): Promise<void> {
    device.isAvailable = !device.isAvailable;
    await this.#plug(device, device.node);
  }

  #cut(end: 'lost' | 'expired'): void {
    this.#truth.hadInterruption = true;
    this.#managers.cutWatches(end);
    this.#managers.interrupt();
  }

  #beginOutage(): void {
    this.#truth.hadInterruption = true;
    this.#managers.beginOutage();
  }

  async #startManager(): Promise<void> {
    if (this.#managers.count < (this.#isElected ? 2 : 1)) await this.#managers.start();
  }

  #pool(): Promise<HSMPool> {
    return this.#world.admin.get(HSMPool, { namespace: this.#namespace, name: `${DEVICE}-pool` });
  }

  get #pods(): Discovery {
    if (!this.#discovery) throw new TypeError('the case has not begun');
    return this.#discovery;
  }

  #happens(probability: number): boolean {
    return this.#random.next() < probability;
  }

  #fail(problem: string): void {
    const settings = `grace ${this.#graceSeconds} s${this.#isElected ? ', elected' : ''}`;
    this.violations.push(`${problem}; ${settings}; last steps: ${this.#log.slice(-8).join(', ')}`);
  }
}

function weighted<T extends readonly [number, ...unknown[]]>(random: Random, items: readonly T[]): T {
  let left = random.next() * items.reduce((sum, [weight]) => sum + weight, 0);
  for (const item of items) {
    left -= item[0];
    if (left < 0) return item;
  }
  return pick(random, items);
}
