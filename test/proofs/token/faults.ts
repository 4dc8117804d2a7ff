import { integerBelow, pick, type Random } from '@bowline/machinery';
import {
  type CallKind,
  type Interrupter,
  Interruption,
} from '../../../operators/hsm-secrets/src/token/interruption.test-support.ts';
import { TokenError } from '../../../operators/hsm-secrets/src/token/token-error.ts';

/** FaultKind is how a call fails: the process ends, or the device is unplugged, before or after the call took effect. */
export type FaultKind = 'none' | 'kill before' | 'kill after' | 'unplug before' | 'unplug after';

/** Fault is at most one failure, at one call of a token or of the record of tried PINs. */
export class Fault implements Interrupter {
  readonly kind: FaultKind;
  readonly #at: number;
  readonly #counted: 'all' | 'changes';
  readonly #interruption: Interruption;
  #calls = 0;
  #isUnplugged = false;

  constructor(kind: FaultKind, at: number, counted: 'all' | 'changes') {
    this.kind = kind;
    this.#at = at;
    this.#counted = counted;
    const isKill = kind === 'kill before' || kind === 'kill after';
    this.#interruption = new Interruption(isKill ? at : 0, kind === 'kill after' ? 'after' : 'before', counted);
  }

  /** random returns a fault at one of the first calls, with a probability of `share`. Early calls are more likely. */
  static random(random: Random, share: number, maxCalls: number): Fault {
    const kinds: readonly FaultKind[] = ['kill before', 'kill after', 'kill after', 'unplug before', 'unplug after'];
    const kind = random.next() < share ? pick(random, kinds) : 'none';
    const counted = pick(random, ['all', 'changes'] as const);
    // About one call in four is a change.
    const most = counted === 'all' ? maxCalls : Math.ceil(maxCalls / 4);
    return new Fault(kind, 1 + integerBelow(random, 1 + integerBelow(random, most)), counted);
  }

  get isKilled(): boolean {
    return this.#interruption.isKilled;
  }

  /** hasFired reports whether the call was reached. */
  get hasFired(): boolean {
    return this.#isUnplugged || this.isKilled;
  }

  run<T>(kind: CallKind, call: () => T): T {
    return this.#interruption.run(kind, call);
  }

  /** runOnToken also unplugs the device. `unplug` ends all its sessions, so that the device itself fails. */
  runOnToken<T>(kind: CallKind, call: () => T, unplug: () => void): T {
    return this.run(kind, () => {
      if (!this.#unplugsAt(kind)) return call();
      this.#isUnplugged = true;
      if (this.kind === 'unplug before') {
        unplug();
        return call();
      }
      try {
        call();
      } finally {
        unplug();
      }
      throw new TokenError('Unavailable', 'the device was unplugged before it responded');
    });
  }

  #unplugsAt(kind: CallKind): boolean {
    if (this.kind !== 'unplug before' && this.kind !== 'unplug after') return false;
    return (kind === 'change' || this.#counted === 'all') && ++this.#calls === this.#at;
  }
}
