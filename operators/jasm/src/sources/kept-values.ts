import { BoundedMap, type Clock, type Timer } from '@bowline/machinery';
import type { ExternalSecret } from '../providers/provider.ts';

/** KeptValue is a secret and the instant (monotonic) at which the call that read it started. */
export interface KeptValue {
  readonly startedAt: number;
  readonly secret: ExternalSecret;
}

/** KeptValuesOptions limits what is kept. */
export interface KeptValuesOptions {
  readonly clock: Clock;
  readonly keepMs: number;
  readonly maxValues: number;
  readonly maxBytes: number;
}

/**
 * KeptValues holds secrets between the end of a call and the last request that it serves. All are kept equally long,
 * and each is dropped at its time, whether or not it was read.
 */
export class KeptValues {
  readonly #options: KeptValuesOptions;
  readonly #kept: BoundedMap<string, KeptValue>;
  #timer: Timer | undefined;

  constructor(options: KeptValuesOptions) {
    this.#options = options;
    const { clock, keepMs, maxValues, maxBytes } = options;
    this.#kept = new BoundedMap({
      maxEntries: maxValues,
      maxSize: maxBytes,
      sizeOf: ({ secret }) => sizeOf(secret),
      expiry: { clock, afterMs: keepMs },
    });
  }

  get size(): number {
    return this.#kept.size;
  }

  get(key: string): KeptValue | undefined {
    return this.#kept.get(key);
  }

  set(key: string, value: KeptValue): void {
    this.#kept.set(key, value);
    this.#dropExpired();
  }

  /** clear drops everything. */
  clear(): void {
    this.#kept.clear();
    this.#dropExpired();
  }

  /** Drops expired entries, and sets a timer for the next one. */
  #dropExpired(): void {
    const { clock } = this.#options;
    const next = this.#kept.dropExpired();
    this.#timer?.cancel();
    this.#timer = next === undefined ? undefined : clock.setTimer(next - clock.monotonic(), () => this.#dropExpired());
  }
}

function sizeOf({ payload }: ExternalSecret): number {
  switch (payload.kind) {
    case 'text':
      return payload.text.length * 2;
    case 'bytes':
      return payload.bytes.byteLength;
    case 'entries':
      return Object.entries(payload.entries).reduce((sum, [key, value]) => sum + key.length * 2 + value.byteLength, 0);
  }
}
