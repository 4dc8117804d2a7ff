import type { PinAttemptStore } from './pin/pin-attempts.ts';
import type { Token } from './token.ts';

/** KILLED is thrown in place of the end of the process. */
export const KILLED = new Error('the process was killed');

/** CallKind tells calls that can change a token, or the record of tried PINs, from those that only read. */
export type CallKind = 'change' | 'query';

/** Interrupter decides about each call whether it takes place. */
export interface Interrupter {
  run<T>(kind: CallKind, call: () => T): T;
}

/**
 * Interruption ends a simulated process at one of its calls: before the call takes effect, or after it took effect but
 * before its result arrives. All later calls of that process fail too.
 */
export class Interruption implements Interrupter {
  readonly #at: number;
  readonly #isAfter: boolean;
  readonly #counted: 'all' | 'changes';
  #calls = 0;
  #isKilled = false;

  /** `at` counts from 1, all calls or only changes; 0 never interrupts. */
  constructor(at: number, moment: 'before' | 'after', counted: 'all' | 'changes' = 'all') {
    this.#at = at;
    this.#isAfter = moment === 'after';
    this.#counted = counted;
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  run<T>(kind: CallKind, call: () => T): T {
    if (this.#isKilled) throw KILLED;
    if (kind === 'query' && this.#counted === 'changes') return call();
    if (++this.#calls !== this.#at) return call();
    this.#isKilled = true;
    try {
      if (this.#isAfter) call();
    } catch {
      // The process ends before it receives the error.
    }
    throw KILLED;
  }
}

/** tokenWith returns a token with some methods replaced. */
export function tokenWith(token: Token, methods: Partial<Token>): Token {
  return {
    info: () => token.info(),
    isLoggedIn: () => token.isLoggedIn(),
    login: (pin) => token.login(pin),
    setPin: (oldPin, newPin) => token.setPin(oldPin, newPin),
    find: (application) => token.find(application),
    read: (handle) => token.read(handle),
    create: (object) => token.create(object),
    destroy: (handle) => token.destroy(handle),
    ...methods,
  };
}

/** interruptible returns a token whose calls are subject to an interruption. */
export function interruptible(token: Token, interruption: Interrupter): Token {
  const change = <T>(call: () => T): T => interruption.run('change', call);
  const query = <T>(call: () => T): T => interruption.run('query', call);
  return {
    info: () => query(() => token.info()),
    isLoggedIn: () => query(() => token.isLoggedIn()),
    login: (pin) => change(() => token.login(pin)),
    setPin: (oldPin, newPin) => change(() => token.setPin(oldPin, newPin)),
    find: (application) => query(() => token.find(application)),
    read: (handle) => query(() => token.read(handle)),
    create: (object) => change(() => token.create(object)),
    destroy: (handle) => change(() => token.destroy(handle)),
  };
}

/** interruptibleStore returns a record of PINs whose calls are subject to an interruption. */
export function interruptibleStore(store: PinAttemptStore, interruption: Interrupter): PinAttemptStore {
  return {
    read: () => interruption.run('query', () => store.read()),
    write: (attempts) => interruption.run('change', () => store.write(attempts)),
  };
}
