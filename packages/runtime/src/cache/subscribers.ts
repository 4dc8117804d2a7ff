import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InformerEvent, InformerHandler } from './informer.ts';

/** After this many events other work gets a turn: a relist of a large kind must not stall the lease or the probes. */
const EVENTS_PER_TURN = 512;

interface Subscriber<V> {
  readonly handler: InformerHandler<V>;
  /** The number of the last event that the subscriber knows from its replay. */
  readonly since: number;
}

/** Subscribers hands events to handlers in order. One that throws harms neither the others nor the stream. */
export class Subscribers<V> {
  readonly #subscribers = new Set<Subscriber<V>>();
  readonly #onError: (error: unknown) => void;
  #queue: InformerEvent<V>[] = [];
  /** The number of the last event that was queued. */
  #last = 0;
  #draining: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** isEmpty says that nobody listens, so events need not be made. */
  get isEmpty(): boolean {
    return this.#subscribers.size === 0;
  }

  /** add replays what is given, then delivers everything queued from now on. */
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

  /** queue puts an event in line; `deliver` hands it out. */
  queue(event: InformerEvent<V>): void {
    this.#last++;
    if (!this.isEmpty) this.#queue.push(event);
    else if (this.#queue.length > 0) this.#queue.length = 0;
  }

  /** deliver hands out what is queued and resolves when it has: whoever awaits it before reading on is slowed down by slow handlers. */
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
      if (++handled % EVENTS_PER_TURN === 0 && handled < events.length) await nextTurn();
    }
  }

  #call(subscriber: Subscriber<V>, event: InformerEvent<V>): void {
    try {
      const result: unknown = subscriber.handler(event);
      // The type says void, which an async function also satisfies; its rejection must not end the process.
      if (result instanceof Promise) result.catch(this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  }
}
