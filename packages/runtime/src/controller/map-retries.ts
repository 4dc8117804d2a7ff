import type { Clock, Random } from '@bowline/machinery';
import type { Informer } from '../cache/informer.ts';
import type { Log } from '../observability/log.ts';
import type { ObjectCause } from '../queue/cause.ts';
import { Queue } from '../queue/queue.ts';
import type { Source } from './sources.ts';

/**
 * Map functions fail on objects that are not in the cache yet, which takes a second, or on a bug, which takes a
 * release.
 */
const BACKOFF = { minMs: 1_000, maxMs: 300_000 };

/** Above this many objects that could not be mapped, their whole source is mapped again instead. */
const MAX_OBJECTS = 1_000;

/** How many states of one object that could not be mapped are kept; the oldest are dropped. */
const MAX_STATES = 8;

/** MapFailure is a change of an object that could not be mapped. */
export interface MapFailure {
  readonly source: Source;
  readonly informer: Informer<unknown>;
  readonly cause: ObjectCause;
  /** The object before or after the change, as the source's view keeps it. */
  readonly states: readonly unknown[];
}

/** MapRetriesOptions holds what retries need. */
export interface MapRetriesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** map maps the states again, and returns those for which the map function threw. */
  readonly map: (failure: MapFailure) => readonly unknown[];
  /** resync maps all objects of a source; failures are passed to `add`. */
  readonly resync: (source: Source, informer: Informer<unknown>) => void;
}

/**
 * MapRetries retries failed map functions, with a backoff per object: without it the keys that the object concerns
 * would wait for the resync. One log line reports that a source's map function fails, and one that it works again.
 */
export class MapRetries {
  readonly #options: MapRetriesOptions;
  readonly #objects = new Map<string, MapFailure>();
  /** Sources with more failures than are kept: each is mapped again as a whole. */
  readonly #whole = new Map<string, Pick<MapFailure, 'source' | 'informer'>>();
  readonly #failing = new Set<string>();
  #queue: Queue | undefined;
  #worker: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: MapRetriesOptions) {
    this.#options = options;
  }

  /** size returns how many objects, and whole sources, wait to be mapped again. */
  get size(): number {
    return this.#objects.size + this.#whole.size;
  }

  /** add records a change that could not be mapped. */
  add(failure: MapFailure, error: unknown): void {
    if (this.#isStopped) return;
    const { source, informer, cause, states } = failure;
    const level = this.#failing.has(source.name) ? 'debug' : 'error';
    this.#options.log[level]('map function threw, retrying', { ...cause, error });
    this.#failing.add(source.name);
    const id = idOf(failure);
    const waiting = this.#objects.get(id);
    if (waiting || this.#objects.size < MAX_OBJECTS) {
      this.#objects.set(id, { ...failure, states: [...(waiting?.states ?? []), ...states].slice(-MAX_STATES) });
      if (!waiting) this.#retry(id);
    } else if (!this.#whole.has(source.name)) {
      this.#whole.set(source.name, { source, informer });
      this.#retry(source.name);
    }
  }

  /** stop discards all waiting retries. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#objects.clear();
    this.#whole.clear();
    void this.#queue?.shutDown({ discard: true });
    await this.#worker;
  }

  #retry(id: string): void {
    const { clock, random } = this.#options;
    this.#queue ??= new Queue({ name: 'map-retries', backoff: BACKOFF, clock, random });
    this.#worker ??= this.#work(this.#queue);
    this.#queue.retry(id);
  }

  async #work(queue: Queue): Promise<void> {
    for (let item = await queue.next(); item; item = await queue.next()) {
      const { key: id } = item;
      this.#retryNow(id);
      if (!this.#objects.has(id) && !this.#whole.has(id)) queue.forget(id);
      queue.done(id);
    }
  }

  #retryNow(id: string): void {
    const whole = this.#whole.get(id);
    const failure = this.#objects.get(id);
    if (whole) {
      this.#whole.delete(id);
      // If it fails again, `add` puts it back with a longer delay.
      this.#options.resync(whole.source, whole.informer);
    } else if (failure) {
      const states = this.#options.map(failure);
      this.#objects.delete(id);
      if (states.length > 0) {
        this.#objects.set(id, { ...failure, states });
        this.#queue?.retry(id);
      }
    }
    const source = (whole ?? failure)?.source;
    if (source) this.#noteRecovery(source);
  }

  #noteRecovery({ name, resource }: Source): void {
    if (this.#whole.has(name)) return;
    for (const { source } of this.#objects.values()) if (source.name === name) return;
    this.#failing.delete(name);
    this.#options.log.info('map function works again', { kind: resource.kind });
  }
}

/** An object's key contains no line break, so its id never equals a source's name. */
function idOf({ source, cause }: MapFailure): string {
  return `${source.name}\n${cause.key}`;
}
