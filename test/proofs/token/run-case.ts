import { between, integerBelow, pick, type Random, seededRandom } from '@bowline/machinery';
import { APPLICATION } from '../../../operators/hsm-secrets/src/token/layout/label.ts';
import { Agent, type Tampering } from './agent.ts';
import { type Content, isPredicted, isSameContent, predict, problemOf, readContent } from './content.ts';
import { Fault } from './faults.ts';
import { type Operation, PATHS, randomOlderObjects, randomOperation } from './operations.ts';
import type { DeviceOptions, TokenKind } from './tokens.ts';

/** CaseResult is the result of one seeded case. */
export interface CaseResult {
  readonly violations: readonly string[];
  /** How often things happened, by name. */
  readonly counts: Readonly<Record<string, number>>;
}

const MAX_STEPS = 24;
/** About how many calls they make: a change of the contents, a change of the PIN, and a login. */
const [CHANGE_CALLS, PIN_CALLS, LOGIN_CALLS] = [50, 12, 8];

/** runCase plays one sequence of changes, PIN changes and faults on a new device. */
export async function runCase(seed: number, kind: TokenKind, tampering: Tampering = {}): Promise<CaseResult> {
  const random = seededRandom(seed);
  const options = kind.supported({
    pin: 'pin-0',
    reportsPinTries: random.next() < 0.6,
    capacityBytes: random.next() < 0.3 ? Math.floor(between(random, 1_500, 6_000)) : undefined,
  });
  using device = kind.create(options);
  const run = new Run(random, new Agent(device, options, tampering), options);
  try {
    await run.play();
  } catch (error) {
    run.violate(`unexpected error: ${error instanceof Error ? error.stack : String(error)}`);
  }
  return { violations: run.violations, counts: run.counts };
}

class Run {
  readonly violations: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #random: Random;
  readonly #agent: Agent;
  readonly #options: DeviceOptions;
  readonly #isLimited: boolean;
  #content: Content = new Map();
  /** The paths that are still in the older layout. */
  #older = new Set<string>();
  /** The path of the last change, if it was interrupted. */
  #lastFault: string | undefined;
  #pins = 0;

  constructor(random: Random, agent: Agent, options: DeviceOptions) {
    this.#random = random;
    this.#agent = agent;
    this.#options = options;
    this.#isLimited = options.capacityBytes !== undefined;
  }

  violate(message: string): void {
    this.violations.push(message);
  }

  async play(): Promise<void> {
    await this.#ready();
    this.#addOlderObjects();
    this.#content = await this.#read();
    const steps = 4 + integerBelow(this.#random, MAX_STEPS - 4);
    for (let step = 0; step < steps && this.violations.length === 0; step++) {
      const share = this.#random.next();
      if (share < 0.75) await this.#change();
      else if (share < 0.85) await this.#changePin();
      else await this.#disturb();
      await this.#verifyPin();
    }
    if (this.violations.length === 0) await this.#empty();
  }

  #addOlderObjects(): void {
    if (this.#random.next() < 0.5) return;
    this.#older = new Set(PATHS);
    for (const [label, value] of randomOlderObjects(this.#random)) {
      try {
        const object = { label, application: APPLICATION, objectId: Buffer.alloc(0), value: Buffer.from(value) };
        this.#agent.session?.create(object);
      } catch {
        return;
      }
    }
  }

  /** #change makes one change of the contents, perhaps with a fault, and compares the result with the prediction. */
  async #change(): Promise<void> {
    // Leftovers matter to the next changes of the same path.
    const path =
      this.#lastFault !== undefined && this.#random.next() < 0.6 ? this.#lastFault : pick(this.#random, PATHS);
    const operation = randomOperation(this.#random, this.#content, path);
    const predicted = predict(this.#content, operation);
    const fault = Fault.random(this.#random, 0.6, CHANGE_CALLS);
    this.#agent.fault = fault;
    const problem = await problemOf(this.#call(operation));
    this.#settle(fault);
    this.#lastFault = fault.hasFired ? path : undefined;
    await this.#ready();
    const content = await this.#read();
    const isOld = isSameContent(content, this.#content);
    const isNew = isPredicted(content, this.#content, path, predicted);
    this.#count(`${operation.kind}${fault.hasFired ? ', fault' : ''}: ${problem ?? 'done'}`);

    const told = `${describe(operation)} with ${describeFault(fault)} ended with ${problem ?? 'success'}`;
    // After the device was unplugged, the mounted PIN may not be its PIN.
    if (fault.isKilled || problem === 'Unavailable' || (fault.hasFired && problem?.startsWith('PIN'))) {
      if (!fault.hasFired) this.violate(`${told}, without a fault`);
      if (!isOld && !isNew && !this.#isHalfDeleted(operation, content))
        this.violate(`${told}: ${show(this.#content)} became ${show(content)}`);
    } else if (problem === 'Full' && this.#isLimited) {
      if (!isOld) this.violate(`${told}, but ${show(this.#content)} became ${show(content)}`);
      if (!fault.hasFired && !this.#older.has(path)) this.#checkObjects(path, content);
    } else {
      if (problem !== predicted.problem) this.violate(`${told}, expected ${predicted.problem ?? 'success'}`);
      if (!isNew) this.violate(`${told}, but ${show(this.#content)} became ${show(content)}`);
      if (problem === undefined) this.#checkObjects(path, content);
    }
    if (!isOld) this.#older.delete(path);
    this.#content = content;
  }

  /** On a full device, a secret that is being deleted loses its values before it has a tombstone. */
  #isHalfDeleted(operation: Operation, content: Content): boolean {
    if (!this.#isLimited || operation.kind !== 'remove') return false;
    return isPredicted(content, this.#content, operation.path, { problem: undefined, entry: undefined });
  }

  #call(operation: Operation): Promise<unknown> {
    const { service } = this.#agent;
    switch (operation.kind) {
      case 'write':
        return service.write(operation.path, operation.data, {}, operation.options);
      case 'remove':
        return service.remove(operation.path, undefined, operation.options);
      case 'remove key':
        return service.remove(operation.path, operation.key, operation.options);
      case 'purge':
        return service.purge(operation.path, operation.version);
    }
  }

  /** #checkObjects checks that a completed change left no object behind that its content does not need. */
  #checkObjects(path: string, content: Content): void {
    const labels = (this.#agent.session?.find(APPLICATION) ?? []).map(({ label }) => label);
    const below = labels.filter((label) => label.startsWith(`${path}/`) && !label.slice(path.length + 1).includes('/'));
    const entry = content.get(path);
    const expected = entry === undefined ? [] : [...Object.keys(entry.values), '_metadata'];
    // The label of a key can also be that of the older layout's secret below the path.
    const isOfOther = (label: string): boolean => this.#older.has(label);
    const others = below.filter((label) => !isOfOther(label) && !expected.includes(label.slice(path.length + 1)));
    const duplicates = below.filter((label, index) => !isOfOther(label) && below.indexOf(label) !== index);
    if (others.length + duplicates.length > 0) this.violate(`leftovers: ${[...others, ...duplicates].join(', ')}`);
  }

  /** #changePin changes the PIN as the manager does, and may be interrupted between any two steps. */
  async #changePin(): Promise<void> {
    const { secret } = this.#agent;
    const newPin = `pin-${++this.#pins}`;
    // The manager completes an earlier change before it begins another one.
    if (secret.values.current !== this.#agent.devicePin) secret.values = { current: this.#agent.devicePin };
    // The mounted files may be older than the Secret.
    if (this.#random.next() < 0.7) secret.values = { ...secret.values, next: newPin };
    const fault = Fault.random(this.#random, 0.6, PIN_CALLS);
    this.#agent.fault = fault;
    const problem = await problemOf(this.#agent.service.changePin(Buffer.from(newPin)));
    this.#settle(fault);
    this.#count(`change PIN${fault.hasFired ? ', fault' : ''}: ${problem ?? 'done'}`);
    if (problem !== undefined && !fault.hasFired) this.violate(`the PIN was not changed: ${problem}`);
    if (problem === undefined && this.#agent.devicePin !== newPin) this.violate('the PIN was not changed');
    if (this.#random.next() < 0.3) this.#agent.restart();
    if (this.#random.next() < 0.6) await this.#completePinChange(newPin);
    await this.#ready();
  }

  async #completePinChange(newPin: string): Promise<void> {
    await this.#ready();
    const problem = await problemOf(this.#agent.service.changePin(Buffer.from(newPin)));
    if (problem !== undefined) this.violate(`the change of the PIN could not be repeated: ${problem}`);
    this.#agent.secret.values = { current: newPin };
  }

  /** #disturb gives the agent or the device a wrong PIN, or restarts the agent. */
  async #disturb(): Promise<void> {
    const share = this.#random.next();
    const { secret } = this.#agent;
    if (share < 0.4) {
      secret.values = {
        current: `wrong-${++this.#pins}`,
        next: this.#random.next() < 0.3 ? secret.values.current : undefined,
      };
    } else if (share < 0.6 && !this.#agent.flags.isPinCountLow) {
      this.#agent.enterWrongPin();
    }
    const fault = Fault.random(this.#random, 0.5, LOGIN_CALLS);
    this.#restart();
    this.#agent.fault = fault;
    await problemOf(this.#agent.service.status());
    await problemOf(this.#agent.service.status());
    this.#settle(fault);
    for (let restarts = integerBelow(this.#random, 4); restarts > 0; restarts--) {
      // Only a token that reports wrong PINs can protect itself from a user with many of them.
      if (this.#options.reportsPinTries && this.#random.next() < 0.4)
        secret.values = { current: `wrong-${++this.#pins}` };
      this.#restart();
      await this.#agent.service.status();
    }
    this.#count('disturbed');
    await this.#ready();
  }

  /** #restart restarts the container or the pod. Every pod may try a wrong PIN once if the token does not report it. */
  #restart(): void {
    const isSafe = this.#options.reportsPinTries || this.#agent.secret.values.current === this.#agent.devicePin;
    this.#agent.restart(isSafe && this.#random.next() < 0.3 ? 'pod' : 'container');
  }

  #settle(fault: Fault): void {
    this.#agent.fault = new Fault('none', 0, 'all');
    if (fault.hasFired) {
      this.#agent.isDisturbed = true;
      this.#count(fault.kind);
    }
    if (fault.isKilled) this.#agent.restart();
  }

  /** #ready logs in, if necessary as a user would: by correcting the PIN Secret, and then by requesting an attempt. */
  async #ready(): Promise<void> {
    const { secret } = this.#agent;
    const wasClear = !this.#agent.flags.isPinCountLow;
    let status = await this.#agent.service.status();
    if (!status.isLoggedIn) {
      this.#count(`waits: ${status.problem?.reason}`);
      const { current, next } = secret.values;
      const isRight = current === this.#agent.devicePin || next === this.#agent.devicePin;
      if (isRight && wasClear && !this.#agent.isDisturbed)
        this.violate(`the right PIN is not used: ${status.problem?.reason} ${status.problem?.message}`);
      secret.values = { current: this.#agent.devicePin };
      status = await this.#agent.service.status();
      if (!status.isLoggedIn && !(await this.#agent.retryPin())) this.violate('a user cannot make the agent log in');
    }
    this.#agent.isDisturbed = false;
  }

  async #read(): Promise<Content> {
    return readContent(this.#agent.service, this.violations);
  }

  async #verifyPin(): Promise<void> {
    this.violations.push(...this.#agent.problems.splice(0));
    if (this.#agent.flags.isPinLocked) this.violate('the token is locked');
    if (!this.#agent.secret.areCopiesCleared) this.violate('a PIN was not cleared');
  }

  /** #empty deletes everything: nothing must be left on the token, visible or not. */
  async #empty(): Promise<void> {
    for (const path of PATHS) {
      if (this.#content.get(path)?.isDeleted === false) await problemOf(this.#agent.service.remove(path, undefined));
    }
    const content = await this.#read();
    for (const path of PATHS) await problemOf(this.#agent.service.purge(path, content.get(path)?.version ?? 0));
    const labels = (this.#agent.session?.find(APPLICATION) ?? []).map(({ label }) => label);
    // A secret of the older layout cannot be deleted from a full device.
    const isAllowed = this.#isLimited && (await this.#read()).size > 0;
    if (labels.length > 0 && !isAllowed) this.violate(`after everything was deleted, ${labels.join(', ')} is left`);
  }

  #count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

function describe(operation: Operation): string {
  return JSON.stringify(operation, (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' ? '…' : value,
  );
}

function describeFault(fault: Fault): string {
  return fault.hasFired ? fault.kind : 'no fault';
}

function show(content: Content): string {
  const short = (_: string, value: unknown) =>
    typeof value === 'string' && value.length > 20 ? `${value.slice(0, 20)}…` : value;
  return JSON.stringify(Object.fromEntries(content), short);
}
