import type { Clock, Random } from '@bowline/machinery';
import type { OperationRequest } from './operation.ts';

/** Failure is the last failure and how long its delay still lasts. */
interface Failure {
  readonly error: unknown;
  readonly retryAfterMs: number;
}

const MIN_BACKOFF_MS = 30_000;
const MAX_BACKOFF_MS = 300_000;
/** The share by which a delay may be shortened, so that sources that failed together do not return together. */
const JITTER = 0.1;

/** Backoff delays further attempts after failures: 30 s, doubling up to 5 min. */
class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #failures = 0;
  #until = 0;
  #error: unknown;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  failed(error: unknown): void {
    const delay = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** this.#failures);
    this.#failures++;
    this.#until = this.#clock.monotonic() + delay * (1 - JITTER * this.#random.next());
    this.#error = error;
  }

  reset(): void {
    this.#failures = 0;
    this.#until = 0;
  }

  get current(): Failure | undefined {
    const retryAfterMs = this.#until - this.#clock.monotonic();
    return this.#failures > 0 && retryAfterMs > 0 ? { error: this.#error, retryAfterMs } : undefined;
  }
}

interface OperationUser {
  readonly item: string;
  readonly trigger: string | undefined;
  /** Only operations with this number or a later one count. */
  readonly firstValid: number;
}

/** OperationResult is what an operation returned for an item. */
interface OperationResult {
  readonly endedAt: number;
  /** Operations are numbered as they start: a clock may return the same time for two of them. */
  readonly number: number;
  /** The factor by which the times vary after which it is too old. */
  readonly jitter: number;
  readonly value: unknown;
}

/** SourceOperation is one operation of a source with its users and results. */
export class SourceOperation {
  readonly source: Source;
  readonly name: string;
  readonly users = new Map<string, OperationUser>();
  readonly results = new Map<string, OperationResult>();
  readonly #backoff: Backoff;
  run: OperationRequest<unknown>['run'] = async () => new Map();
  /** Whether it waits for its turn. */
  isWanted = false;

  constructor(source: Source, name: string, backoff: Backoff) {
    this.source = source;
    this.name = name;
    this.#backoff = backoff;
  }

  /** The items that users need, without duplicates. */
  get items(): readonly string[] {
    return [...new Set([...this.users.values()].map(({ item }) => item))];
  }

  /** setUser records what a user needs. A changed trigger resets the backoff and requires a result of operation `next` or later. */
  setUser(user: string, item: string, trigger: string | undefined, next: number): void {
    const known = this.users.get(user);
    const isChanged = known !== undefined && known.trigger !== trigger;
    if (isChanged) {
      this.#backoff.reset();
      this.source.backoff.reset();
    }
    const firstValid = isChanged ? next : (known?.firstValid ?? 0);
    this.users.set(user, { item, trigger, firstValid });
    if (known !== undefined && known.item !== item) this.#forgetUnused(known.item);
  }

  firstValid(user: string): number {
    return this.users.get(user)?.firstValid ?? 0;
  }

  succeeded(): void {
    this.#backoff.reset();
    this.source.backoff.reset();
    for (const item of this.results.keys()) this.#forgetUnused(item);
  }

  failed(error: unknown, concernsOnlyThis: boolean): void {
    // Both: a later success of another operation of the source does not shorten the delays of this one.
    this.#backoff.failed(error);
    if (!concernsOnlyThis) this.source.backoff.failed(error);
  }

  /** failure returns why the operation may not start now. */
  failure(): Failure | undefined {
    const [own, shared] = [this.#backoff.current, this.source.backoff.current];
    return own && own.retryAfterMs >= (shared?.retryAfterMs ?? 0) ? own : shared;
  }

  #forgetUnused(item: string): void {
    if (![...this.users.values()].some((user) => user.item === item)) this.results.delete(item);
  }
}

/** Source holds the operations of one source. */
export class Source {
  readonly key: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #operations = new Map<string, SourceOperation>();
  readonly backoff: Backoff;
  running: { readonly operation: SourceOperation; readonly controller: AbortController } | undefined;

  constructor(key: string, clock: Clock, random: Random) {
    this.key = key;
    this.#clock = clock;
    this.#random = random;
    this.backoff = new Backoff(clock, random);
  }

  get isUnused(): boolean {
    return this.#operations.size === 0 && this.running === undefined;
  }

  get hasWanted(): boolean {
    return [...this.#operations.values()].some(({ isWanted }) => isWanted);
  }

  operation(name: string): SourceOperation {
    const known = this.#operations.get(name);
    if (known) return known;
    const operation = new SourceOperation(this, name, new Backoff(this.#clock, this.#random));
    this.#operations.set(name, operation);
    return operation;
  }

  drop(operation: SourceOperation): void {
    operation.isWanted = false;
    this.#operations.delete(operation.name);
  }

  /** next returns the operation that has waited longest. */
  next(): SourceOperation | undefined {
    for (const operation of this.#operations.values()) {
      if (!operation.isWanted) continue;
      operation.isWanted = false;
      // To the end: the others come first next time.
      this.#operations.delete(operation.name);
      this.#operations.set(operation.name, operation);
      return operation;
    }
    return undefined;
  }
}
