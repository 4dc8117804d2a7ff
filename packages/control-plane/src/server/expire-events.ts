import type { Event } from '@bowline/kubernetes';
import type { Clock, Timer } from '@bowline/machinery';
import type { Storage } from './storage/storage.ts';
import { objectOf, type Stored } from './storage/stored.ts';

const COLLECTION = 'events';
/** The real server keeps Events this long after their last write by default. */
const LIFETIME_MS = 60 * 60_000;
/** Removes many Events at once, instead of each by a timer of its own. */
const MIN_INTERVAL_MS = 10_000;
/** When Events of an earlier run are first checked: not while the server starts. */
const FIRST_CHECK_MS = 60_000;

/** ExpireEventsOptions holds the dependencies of expireEvents. */
export interface ExpireEventsOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Called when Events cannot be removed. */
  readonly onError: (error: unknown) => void;
}

/**
 * expireEvents removes Events an hour after they were last written: nothing else deletes them. Disposing of it stops
 * the expiry.
 */
export function expireEvents(options: ExpireEventsOptions): Disposable {
  return new EventExpiry(options);
}

class EventExpiry implements Disposable {
  readonly #options: ExpireEventsOptions;
  readonly #watch: Disposable;
  /** When each Event was written, by the monotonic clock, oldest first. */
  #written = new Map<string, number>();
  #timer: Timer | undefined;
  #hasReadOlder: boolean;

  constructor(options: ExpireEventsOptions) {
    this.#options = options;
    this.#hasReadOlder = options.storage.size(COLLECTION) === 0;
    this.#watch = options.storage.watch(COLLECTION, ({ key, current }) => {
      // A map keeps the insertion order of its keys.
      this.#written.delete(key);
      if (current) this.#written.set(key, options.clock.monotonic());
      this.#schedule();
    });
    if (!this.#hasReadOlder) this.#after(FIRST_CHECK_MS);
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#watch[Symbol.dispose]();
  }

  #schedule(): void {
    const [oldest] = this.#written.values();
    if (this.#timer || oldest === undefined) return;
    this.#after(Math.max(MIN_INTERVAL_MS, oldest + LIFETIME_MS - this.#options.clock.monotonic()));
  }

  #after(delayMs: number): void {
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      try {
        if (!this.#hasReadOlder) this.#readOlder();
        this.#sweep();
      } catch (error) {
        this.#options.onError(error);
      }
      this.#timer = undefined;
      this.#schedule();
    });
  }

  #sweep(): void {
    const { storage, clock } = this.#options;
    const lastWritten = clock.monotonic() - LIFETIME_MS;
    for (const [key, written] of this.#written) {
      if (written > lastWritten) return;
      const stored = storage.get(COLLECTION, key);
      // The watch removes the key from the map.
      if (stored) storage.remove(COLLECTION, key, stored.revision, objectOf(stored));
    }
  }

  /** Reads when Events were written that were stored before the watch started, from the Events themselves. */
  #readOlder(): void {
    const { storage, clock } = this.#options;
    const ahead = clock.monotonic() - clock.now();
    const older: [string, number][] = [];
    for (const stored of storage.select(COLLECTION))
      if (!this.#written.has(stored.key)) older.push([stored.key, Math.min(writtenAt(stored), clock.now()) + ahead]);
    older.sort(([, a], [, b]) => a - b);
    this.#written = new Map([...older, ...this.#written]);
    this.#hasReadOlder = true;
  }
}

/** writtenAt returns the wall time of the latest write that an Event records. */
function writtenAt(stored: Stored): number {
  const { metadata, lastTimestamp } = objectOf(stored) as Event;
  const times = [
    metadata?.creationTimestamp,
    lastTimestamp,
    ...(metadata?.managedFields ?? []).map(({ time }) => time),
  ];
  return Math.max(0, ...times.map((time) => (time ? Date.parse(time) : 0)));
}
