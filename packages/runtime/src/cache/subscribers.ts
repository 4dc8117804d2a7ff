import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InformerEvent, InformerHandler } from './informer.ts';

/** After this many events, yield to other work: a relist of a large kind must not delay the lease or the probes. */
const MAX_EVENTS_PER_TURN = 512;

interface Subscriber<V> {
  readonly handler: InformerHandler<V>;
  /** The number of the last event covered by the subscriber's replay. */
  readonly since: number;
}

/**
 * Subscribers delivers events to handlers in order. A handler that throws affects neither the others nor the stream.
 */
export class Subscribers<V> {
  readonly #subscribers = new Set<Subscriber<V>>();
  readonly #onError: (error: unknown) => void;
  #queue: InformerEvent<V>[] = [];
  /** The number of the last queued event. */
  #last = 0;
  #draining: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** isEmpty returns whether there are no subscribers, so that events need not be created. */
  get isEmpty(): boolean {
    return this.#subscribers.size === 0;
  }

  /** add replays the given events, then delivers everything queued from now on. */
  add(handler: InformerHandler<V>, replay: Iterable<InformerEvent<V>>): Disposable {
    const subscriber: Subscriber<V> = { handler, since: this.#last };
    this.#subscribers.add(subscriber);
    for (const event of replay) {
      if (!this.#subscribers.has(subscriber)) break;
      this.#call(subscriber, event);
    }
    return {
      [Symbol.dispose]: () => {
        this.#subscribers.delete(subscriber);
      },
    };
  }

  /** queue queues an event; `deliver` delivers it. */
  queue(event: InformerEvent<V>): void {
    this.#last++;
    if (!this.isEmpty) this.#queue.push(event);
    else if (this.#queue.length > 0) this.#queue.length = 0;
  }

  /**
   * deliver delivers the queued events and resolves when done, so that a caller that awaits it before reading on is
   * slowed down by slow handlers.
   */
  async deliver(): Promise<void> {
    while (this.#draining) await this.#draining;
    if (this.#queue.length === 0) return;
    this.#draining = this.#drain();
    try {
      await this.#draining;
    } finally {
      this.#draining = undefined;
    }
  }

  async #drain(): Promise<void> {
    const events = this.#queue;
    let number = this.#last - events.length;
    this.#queue = [];
    let handled = 0;
    for (const event of events) {
      number++;
      for (const subscriber of this.#subscribers) {
        if (subscriber.since < number) this.#call(subscriber, event);
      }
      if (++handled % MAX_EVENTS_PER_TURN === 0 && handled < events.length) await nextTurn();
    }
  }

  #call(subscriber: Subscriber<V>, event: InformerEvent<V>): void {
    try {
      const result: unknown = subscriber.handler(event);
      // An async function is assignable to the void type; its rejection must not crash the process.
      if (result instanceof Promise) result.catch(this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  }
}
