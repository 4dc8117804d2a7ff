import { integerBelow, pick, type Random } from '@bowline/machinery';
import { type Interrupter, Interruption } from '../../../operators/hsm-secrets/src/token/interruption.test-support.ts';
import { TokenError } from '../../../operators/hsm-secrets/src/token/token-error.ts';

/** FaultKind is how a call fails: the process ends, or the device is unplugged, before or after the call took effect. */
export type FaultKind = 'none' | 'kill before' | 'kill after' | 'unplug before' | 'unplug after';

/** Fault is at most one failure, at one call of a token or of the record of PINs. */
export class Fault implements Interrupter {
  readonly kind: FaultKind;
  readonly #at: number;
  readonly #interruption: Interruption;
  #calls = 0;
  #hasFired = false;

  constructor(kind: FaultKind, at: number) {
    this.kind = kind;
    this.#at = at;
    const isKill = kind === 'kill before' || kind === 'kill after';
    this.#interruption = new Interruption(isKill ? at : 0, kind === 'kill after' ? 'after' : 'before');
  }

  /** random returns a fault at one of the first calls, with a probability of `share`. Early calls are more likely. */
  static random(random: Random, share: number, maxCalls: number): Fault {
    const kinds: readonly FaultKind[] = ['kill before', 'kill after', 'kill after', 'unplug before', 'unplug after'];
    const kind = random.next() < share ? pick(random, kinds) : 'none';
    return new Fault(kind, 1 + integerBelow(random, 1 + integerBelow(random, maxCalls)));
  }

  get isKilled(): boolean {
    return this.#interruption.isKilled;
  }

  /** hasFired reports whether the call was reached. */
  get hasFired(): boolean {
    return this.#hasFired || this.isKilled;
  }

  run<T>(call: () => T): T {
    return this.#interruption.run(call);
  }

  /** runOnToken also unplugs the device. `unplug` ends all its sessions. */
  runOnToken<T>(call: () => T, unplug: () => void): T {
    return this.run(() => {
      const isUnplug = this.kind === 'unplug before' || this.kind === 'unplug after';
      if (!isUnplug || ++this.#calls !== this.#at) return call();
      this.#hasFired = true;
      unplug();
      if (this.kind === 'unplug after') call();
      throw new TokenError('Unavailable', 'the device was unplugged');
    });
  }
}
