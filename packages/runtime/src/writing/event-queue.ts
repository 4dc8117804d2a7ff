/** QueuedEvent is an event that waits to be sent. */
export interface QueuedEvent {
  /** The same for events that can be sent as one. */
  readonly key: string;
  readonly namespace: string;
  readonly isWarning: boolean;
}

/**
 * EventQueue is a bounded queue of events, one per key. Warnings are sent before normal events, and within each the
 * namespaces take turns, so that a storm in one namespace delays another by one event at most. A full queue drops from
 * the namespace that has the most waiting, normal events first.
 */
export class EventQueue<E extends QueuedEvent> {
  readonly #limit: number;
  readonly #warnings = new Lane<E>();
  readonly #normal = new Lane<E>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#warnings.size + this.#normal.size;
  }

  /** find returns the waiting event of a key. */
  find({ namespace, key, isWarning }: QueuedEvent): E | undefined {
    return this.#laneOf(isWarning).find(namespace, key);
  }

  /** add appends an event and returns the one that was dropped for it, which may be the event itself. */
  add(event: E): E | undefined {
    this.#laneOf(event.isWarning).add(event);
    if (this.size <= this.#limit) return undefined;
    return this.#normal.dropOne() ?? this.#warnings.dropOne();
  }

  take(): E | undefined {
    return this.takeWarning() ?? this.#normal.take();
  }

  takeWarning(): E | undefined {
    return this.#warnings.take();
  }

  #laneOf(isWarning: boolean): Lane<E> {
    return isWarning ? this.#warnings : this.#normal;
  }
}

/**
 * Lane holds the events of one priority. A Map keeps the order of insertion, so its first entry is the next or the
 * oldest.
 */
class Lane<E extends QueuedEvent> {
  readonly #namespaces = new Map<string, Map<string, E>>();
  size = 0;

  find(namespace: string, key: string): E | undefined {
    return this.#namespaces.get(namespace)?.get(key);
  }

  add(event: E): void {
    let waiting = this.#namespaces.get(event.namespace);
    if (!waiting) {
      waiting = new Map();
      this.#namespaces.set(event.namespace, waiting);
    }
    waiting.set(event.key, event);
    this.size += 1;
  }

  take(): E | undefined {
    for (const [namespace, waiting] of this.#namespaces) {
      const event = this.#removeOldest(namespace, waiting);
      // Back to the end of the queue: it is the next namespace's turn.
      if (waiting.size > 0) {
        this.#namespaces.delete(namespace);
        this.#namespaces.set(namespace, waiting);
      }
      return event;
    }
    return undefined;
  }

  dropOne(): E | undefined {
    let largest: readonly [string, Map<string, E>] | undefined;
    for (const entry of this.#namespaces) {
      if (largest === undefined || entry[1].size > largest[1].size) largest = entry;
    }
    return largest && this.#removeOldest(...largest);
  }

  #removeOldest(namespace: string, waiting: Map<string, E>): E | undefined {
    for (const [key, event] of waiting) {
      waiting.delete(key);
      this.size -= 1;
      if (waiting.size === 0) this.#namespaces.delete(namespace);
      return event;
    }
    return undefined;
  }
}
