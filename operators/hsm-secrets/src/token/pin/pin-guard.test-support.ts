import type { PinAttemptStore, PinAttempts } from './pin-attempts.ts';
import type { PinSource } from './pin-source.ts';

/** PinSecret is a PIN Secret in memory. It hands out copies, and remembers them, to check that they are cleared. */
export class PinSecret implements PinSource {
  /** The values of the Secret. */
  values: { current?: string | undefined; next?: string | undefined };
  readonly #copies: Buffer[] = [];

  constructor(current?: string, next?: string) {
    this.values = { current, next };
  }

  current(): Buffer | undefined {
    return this.#copy(this.values.current);
  }

  next(): Buffer | undefined {
    return this.#copy(this.values.next);
  }

  /** areCopiesCleared reports whether PINs were read, and all of them were cleared. */
  get areCopiesCleared(): boolean {
    return this.#copies.length > 0 && this.#copies.every((copy) => copy.every((byte) => byte === 0));
  }

  #copy(pin: string | undefined): Buffer | undefined {
    if (pin === undefined) return undefined;
    const copy = Buffer.from(pin);
    this.#copies.push(copy);
    return copy;
  }
}

/** MemoryPinAttempts keeps the record of tried PINs as the folder of a pod does: it survives its container. */
export class MemoryPinAttempts implements PinAttemptStore {
  /** The record, as JSON. */
  text: string | undefined;

  read(): PinAttempts | undefined {
    return this.text === undefined ? undefined : (JSON.parse(this.text) as PinAttempts);
  }

  write(attempts: PinAttempts): void {
    this.text = JSON.stringify(attempts);
  }
}
