import { integerBelow, pick, type Random, seededRandom, VirtualClock } from '@bowline/machinery';
import type { Devices } from '../../../operators/hsm-secrets/src/mirror/devices.ts';
import { type MirrorResult, mirrorDevices } from '../../../operators/hsm-secrets/src/mirror/mirror-devices.ts';
import { choosePrimary } from '../../../operators/hsm-secrets/src/mirror/primary.ts';
import { TestDevice } from '../../../operators/hsm-secrets/src/mirror/test-device.test-support.ts';
import {
  removeFromDevices,
  type WriteOutcome,
  writeToDevices,
} from '../../../operators/hsm-secrets/src/mirror/write-to-devices.ts';
import { checksumOf } from '../../../operators/hsm-secrets/src/token/checksum.ts';
import { TokenError } from '../../../operators/hsm-secrets/src/token/token-error.ts';

import { type Content, Ledger } from './ledger.ts';
import { expectedContent } from './oracle.ts';
import { Session, type SessionOptions } from './session.ts';

const PATHS = ['db', 'team/api'] as const;
type Path = (typeof PATHS)[number];

const HOUR_MS = 3_600_000;
/** Longer than a write can be in progress. */
const SETTLE_MS = 120_000;
/** One to rewrite, one to purge, and one that changes nothing. */
const MAX_ROUNDS = 3;

/** Tamper breaks a part on purpose, to show that the model detects it. */
export interface Tamper {
  /** What the devices of a round are replaced with. */
  readonly round?: (devices: Devices) => Devices;
  /** By how much the clock of rounds is ahead. Defaults to 0. */
  readonly roundClockMs?: number;
  /** What the devices of a write are replaced with. */
  readonly write?: (devices: Devices) => Devices;
  /** Every write is reported as a success. */
  readonly acknowledgesAll?: boolean;
}

/** Trace prints what happens in a case. */
export type Trace = (line: string) => void;

/** CaseResult is the result of one seed. */
export interface CaseResult {
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** runCase runs one seed: random operations, losses and returns, then calm, then the checks. */
export async function runCase(seed: number, tamper: Tamper = {}, trace?: Trace): Promise<CaseResult> {
  const world = new World(seededRandom(seed), tamper, trace);
  await world.play();
  return world.result();
}

class World {
  readonly #random: Random;
  readonly #tamper: Tamper;
  readonly #trace: Trace | undefined;
  readonly #clock = new VirtualClock();
  readonly #policy: 'Active' | 'ReadOnly';
  readonly #hasDirectWrites: boolean;
  /** The node of the device at this index should have the primary device. */
  readonly #primaryIndex: number | undefined;
  readonly #ledgers = new Map<Path, Ledger>(PATHS.map((path) => [path, new Ledger()]));
  readonly #devices: TestDevice[] = [];
  /** The devices that returned and were not yet compared with the primary device. */
  readonly #unsynced = new Set<string>();
  readonly #violations: string[] = [];
  readonly #counts: Record<string, number> = {};
  #primary: string | undefined;
  #serials = 0;
  #values = 0;

  constructor(random: Random, tamper: Tamper, trace: Trace | undefined) {
    this.#random = random;
    this.#tamper = tamper;
    this.#trace = trace;
    this.#policy = this.#chance(0.8) ? 'Active' : 'ReadOnly';
    this.#hasDirectWrites = this.#chance(0.4);
    this.#primaryIndex = this.#chance(0.5) ? integerBelow(random, 3) : undefined;
    for (let count = 1 + integerBelow(random, 5); count > 0; count--) this.#devices.push(this.#newDevice());
    this.#choosePrimary();
  }

  async play(): Promise<void> {
    for (let left = 15 + integerBelow(this.#random, 35); left > 0 && this.#violations.length === 0; left--) {
      await this.#act();
      this.#choosePrimary();
      await this.#traceState();
    }
    await this.#settle();
  }

  async #traceState(): Promise<void> {
    if (!this.#trace) return;
    this.#trace(`${new Date(this.#clock.now()).toISOString()} ${this.#policy}, primary ${this.#primary}`);
    for (const device of this.#devices) {
      const content = [...(await device.content()).values()].map((each) => `${each.path}: ${identity(each)}`);
      const state = `${device.isUp ? 'up' : 'away'}${device.hasReadErrors ? ', not readable' : ''}`;
      this.#trace(`  ${device.serial} (${state}) ${content.join('; ')}`);
    }
  }

  result(): CaseResult {
    return { violations: this.#violations, counts: this.#counts };
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }

  #count(name: string, by = 1): void {
    if (by > 0) this.#trace?.(`- ${name} ${by}`);
    this.#counts[name] = (this.#counts[name] ?? 0) + by;
  }

  async #act(): Promise<void> {
    const dice = this.#random.next();
    if (dice < 0.26) await this.#operate({});
    else if (dice < 0.46) await this.#round({});
    else if (dice < 0.52) await this.#round({ killAt: 1 + integerBelow(this.#random, 12) });
    else if (dice < 0.57) await this.#operate({ killAt: 1 + integerBelow(this.#random, 10) });
    else if (dice < 0.65) await this.#together();
    else if (dice < 0.76) this.#fail();
    else if (dice < 0.78) await this.#replace();
    else if (dice < 0.86) await this.#storm();
    else if (dice < 0.9 && this.#hasDirectWrites) await this.#writeDirectly();
    else await this.#clock.advance(pick(this.#random, [1_000, 30_000, SETTLE_MS, HOUR_MS, 25 * HOUR_MS]));
  }

  /** Several things fail before anything can be done about it. */
  async #storm(): Promise<void> {
    for (let left = 2 + integerBelow(this.#random, 4); left > 0; left--) {
      if (this.#chance(0.2)) await this.#replace();
      else this.#fail();
    }
  }

  /** A device goes away or returns, or its lists fail or work again. Devices are away less than they are up. */
  #fail(): void {
    const away = this.#devices.filter(({ isUp }) => !isUp);
    const device = pick(this.#random, this.#chance(0.5) && away.length > 0 ? away : this.#devices);
    if (this.#chance(0.2)) device.hasReadErrors = !device.hasReadErrors;
    else {
      device.isUp = !device.isUp;
      if (device.isUp) this.#unsynced.add(device.serial);
      this.#count(device.isUp ? 'returned' : 'lost');
    }
  }

  /** A device is replaced by a blank one. */
  async #replace(): Promise<void> {
    this.#count('replaced');
    const index = integerBelow(this.#random, this.#devices.length);
    const device = this.#newDevice();
    this.#unsynced.add(device.serial);
    this.#devices[index] = device;
    for (const [path, ledger] of this.#ledgers) ledger.replaced([...(await this.#contents(path)).values()]);
  }

  #newDevice(): TestDevice {
    const skewMs = this.#chance(0.2) ? (integerBelow(this.#random, 3) - 1) * 600_000 : 0;
    const clock = this.#clock;
    // The order of serial numbers must not follow the order in which devices appear.
    const serial = `${integerBelow(this.#random, 1_000)}-${this.#serials++}`;
    return new TestDevice(serial, { ...clockLike(clock), now: () => clock.now() + skewMs });
  }

  #choosePrimary(): void {
    const devices = this.#devices.map(({ serial, isUp }, index) => ({
      serial,
      nodeName: `node-${index}`,
      available: isUp,
      isSynced: !this.#unsynced.has(serial),
    }));
    const { primary } = choosePrimary({
      devices,
      policy: this.#policy,
      autoFailover: true,
      incumbent: this.#primary,
      primaryNode: this.#primaryIndex === undefined ? undefined : `node-${this.#primaryIndex}`,
    });
    // With the policy ReadOnly, what only a lost primary device has is lost too. One that gives up its role is not lost.
    const isLost = !devices.some(({ serial, available }) => available && serial === this.#primary);
    if (primary !== this.#primary && isLost && this.#policy === 'ReadOnly')
      for (const ledger of this.#ledgers.values()) ledger.endPromise();
    this.#primary = primary;
  }

  #view(session: Session, seen?: Set<string>): Devices {
    const tokens = this.#devices
      .filter(({ isUp }) => isUp || this.#chance(0.5))
      .map((device) => [device.serial, session.token(device, seen)] as const);
    const expected = this.#devices.map(({ serial }) => serial);
    return { policy: this.#policy, primary: this.#primary, expected, tokens: new Map(tokens) };
  }

  async #contents(path: Path): Promise<ReadonlyMap<string, Content>> {
    const found = new Map<string, Content>();
    for (const device of this.#devices) found.set(device.serial, (await device.content()).get(path));
    return found;
  }

  /** A round and writes of other managers at the same time, while devices fail. */
  async #together(): Promise<void> {
    const session = new Session({ random: this.#random, isInterleaved: true });
    const work: Promise<unknown>[] = [this.#round({}, session)];
    for (let left = 1 + integerBelow(this.#random, 2); left > 0; left--) work.push(this.#operate({}, session));
    await session.run(Promise.all(work), () => {
      if (this.#chance(0.05)) this.#fail();
    });
    this.#count('together');
  }

  async #operate(options: Partial<SessionOptions>, shared?: Session): Promise<void> {
    const session = shared ?? new Session({ random: this.#random, ...options });
    const path = pick(this.#random, PATHS);
    const ledger = this.#ledgers.get(path) as Ledger;
    const isDeletion = this.#chance(0.2);
    const data = { value: Buffer.from(`${path} ${this.#values++}`) };
    const operation = ledger.begin(isDeletion ? undefined : checksumOf(data), await this.#contents(path));
    const seen = new Set<string>();
    const devices = this.#tamper.write?.(this.#view(session, seen)) ?? this.#view(session, seen);
    const write = { clock: this.#clock };
    let outcome: WriteOutcome;
    try {
      outcome = isDeletion
        ? await removeFromDevices(path, undefined, devices, write)
        : await writeToDevices(path, { data, metadata: {} }, devices, write);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      ledger.cancel(operation);
      this.#count('refused');
      return;
    }
    const isAcknowledged = (outcome.isAcknowledged || this.#tamper.acknowledgesAll === true) && !session.isKilled;
    const failed = outcome.devices.filter(({ error }) => error);
    const accepted = outcome.devices.length - failed.length;
    for (const { serial } of session.isKilled ? outcome.devices : failed) this.#unsynced.add(serial);
    const { version, timestamp } = outcome;
    const result = { stamp: { version, timestamp }, isAcknowledged, seen, accepted, devices: this.#devices.length };
    // With the policy ReadOnly the primary device decides, so it counts alone.
    const decisive = this.#policy === 'Active' ? result : { ...result, accepted: Number(isAcknowledged), devices: 1 };
    this.#violations.push(...ledger.end(operation, decisive, this.#clock.now()));
    this.#count(isAcknowledged ? 'acknowledged' : 'uncertain');
  }

  async #writeDirectly(): Promise<void> {
    const path = pick(this.#random, PATHS);
    const ledger = this.#ledgers.get(path) as Ledger;
    const { service } = pick(this.#random, this.#devices);
    const data = { value: Buffer.from(`${path} ${this.#values++}`) };
    const isDeletion = this.#chance(0.2);
    const operation = ledger.begin(isDeletion ? undefined : checksumOf(data), new Map());
    try {
      ledger.endDirect(operation, await (isDeletion ? service.remove(path, undefined) : service.write(path, data, {})));
      this.#count('direct');
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      ledger.cancel(operation);
    }
  }

  async #round(options: Partial<SessionOptions>, shared?: Session): Promise<MirrorResult> {
    const session = shared ?? new Session({ random: this.#random, ...options });
    const view = this.#view(session);
    const clock = { now: () => this.#clock.now() + (this.#tamper.roundClockMs ?? 0) };
    const result = await mirrorDevices(this.#tamper.round?.(view) ?? view, { clock });
    this.#count('rounds');
    this.#count('synced', result.synced);
    this.#count('purged', result.purged);
    this.#count('conflicts', result.conflicts);
    if (!shared) this.#checkRound(session, result);
    return result;
  }

  /** A round lists every device once, and changes nothing unless enough devices have answered. */
  #checkRound(session: Session, result: MirrorResult): void {
    const count = this.#devices.length;
    const needed = count >= 3 ? Math.floor(count / 2) + 1 : count;
    const isDecidedAlone = this.#policy === 'ReadOnly' && session.answered.has(this.#primary ?? '');
    if (session.writes > 0 && session.answered.size < needed && !isDecidedAlone)
      this.#violations.push(`a round wrote although only ${session.answered.size} of ${count} devices had answered`);
    if ([...session.lists.values()].some((lists) => lists > 1)) this.#violations.push('a device was listed twice');
    if (
      session.reads > 0 &&
      session.writes === 0 &&
      session.lostReplies === 0 &&
      !session.isKilled &&
      result.errorCount === 0
    )
      this.#violations.push('values were read although nothing was written');
    if (session.isKilled) this.#count('killed');
    // A device that has everything that the primary device has may become primary itself.
    else for (const serial of result.inSync) this.#unsynced.delete(serial);
  }

  /** Everything returns: all devices become equal to what the rules decide, and stay so. */
  async #settle(): Promise<void> {
    for (const device of this.#devices) Object.assign(device, { isUp: true, hasReadErrors: false });
    this.#choosePrimary();
    await this.#clock.advance(SETTLE_MS);
    const sorted = [...this.#devices].sort((a, b) => (a.serial < b.serial ? -1 : 1));
    const primary = this.#policy === 'Active' ? undefined : sorted.findIndex(({ serial }) => serial === this.#primary);
    const now = this.#clock.now();
    const expected = new Map<Path, Content>();
    for (const path of PATHS) {
      const contents = await this.#contents(path);
      expected.set(path, expectedContent({ found: sorted.map(({ serial }) => contents.get(serial)), now, primary }));
    }
    let rounds = 0;
    let isQuiet = false;
    while (!isQuiet && rounds++ < MAX_ROUNDS) {
      const { synced, purged, errorCount } = await this.#round({ lostReplies: 0 });
      isQuiet = synced + purged + errorCount === 0;
    }
    if (!isQuiet) this.#violations.push(`the devices still change after ${MAX_ROUNDS} rounds`);
    for (const path of PATHS) await this.#checkPath(path, expected.get(path));
  }

  async #checkPath(path: Path, expected: Content): Promise<void> {
    const contents = [...(await this.#contents(path)).values()];
    const [first] = contents;
    if (new Set(contents.map(identity)).size > 1)
      this.#violations.push(`the devices differ at ${path}: ${contents.map(identity).join(' | ')}`);
    else if (identity(first) !== identity(expected))
      this.#violations.push(`${path} is ${identity(first)}, but should be ${identity(expected)}`);
    const ledger = this.#ledgers.get(path) as Ledger;
    if (ledger.promised) this.#count('promises');
    this.#violations.push(...ledger.problems(path, first, this.#clock.now()));
  }
}

function identity(content: Content): string {
  if (!content) return 'nothing';
  return `${content.version} ${content.timestamp} ${content.isDeleted ? 'deleted' : content.checksum?.slice(0, 15)}`;
}

function clockLike(clock: VirtualClock) {
  return {
    monotonic: () => clock.monotonic(),
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
    setTimer: (ms: number, run: () => void) => clock.setTimer(ms, run),
  };
}
