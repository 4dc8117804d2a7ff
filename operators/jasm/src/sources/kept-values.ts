import type { Clock, Timer } from '@bowline/machinery';
import type { ExternalSecret } from '../providers/provider.ts';

/** KeptValue is a secret and the instant (monotonic) at which the call that read it started. */
export interface KeptValue {
  readonly startedAt: number;
  readonly secret: ExternalSecret;
}

/** KeptValuesOptions bounds what is kept. */
export interface KeptValuesOptions {
  readonly clock: Clock;
  readonly keepMs: number;
  readonly most: number;
  readonly mostBytes: number;
}

interface Kept extends KeptValue {
  readonly bytes: number;
  readonly until: number;
}

/**
 * KeptValues holds secrets for the moment between a call's end and the last of those that it serves. All are kept equally
 * long, so that the first to go is the oldest; each goes at its time, whether or not anybody asks.
 */
export class KeptValues {
  readonly #options: KeptValuesOptions;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(options: KeptValuesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(key: string): KeptValue | undefined {
    return this.#kept.get(key);
  }

  set(key: string, value: KeptValue): void {
    const { clock, keepMs, most, mostBytes } = this.#options;
    this.#remove(key);
    const bytes = sizeOf(value.secret);
    this.#kept.set(key, { ...value, bytes, until: clock.monotonic() + keepMs });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= most && this.#bytes <= mostBytes) break;
      this.#remove(oldest);
    }
    this.#arm();
  }

  /** clear drops everything. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
    this.#arm();
  }

  #remove(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }

  #arm(): void {
    const { clock } = this.#options;
    const [oldest] = this.#kept.values();
    this.#timer?.cancel();
    this.#timer = oldest && clock.setTimer(oldest.until - clock.monotonic(), () => this.#dropDue());
  }

  #dropDue(): void {
    const now = this.#options.clock.monotonic();
    for (const [key, { until }] of this.#kept) {
      if (until > now) break;
      this.#remove(key);
    }
    this.#arm();
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
