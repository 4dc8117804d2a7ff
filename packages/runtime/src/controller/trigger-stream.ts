import { keyString, type ObjectKey } from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import { backoffMs } from '../queue/backoff.ts';
import type { Queue } from '../queue/queue.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import type { CacheReads, SourceTypes } from './sources.ts';

/**
 * TriggerKeys opens a stream of keys from outside Kubernetes. It is called again, after a pause, when the stream fails
 * or ends. The stream must end soon after the signal is aborted. `cache` reads the declared sources of the controller:
 * external events seldom name objects.
 */
export type TriggerKeys<Key, Deps, S> = (signal: AbortSignal, deps: Deps, cache: CacheReads<S>) => AsyncIterable<Key>;

/** TriggerDeclaration declares a stream of keys from outside Kubernetes, without its static types. */
export interface TriggerDeclaration {
  readonly name: string;
  readonly keys: TriggerKeys<ObjectKey | string, never, never>;
}

/** TriggerStreamOptions configures a stream and the queue for its keys. */
export interface TriggerStreamOptions {
  readonly trigger: TriggerDeclaration;
  readonly deps: unknown;
  readonly reads: CacheReads<SourceTypes>;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
}

const BACKOFF = { minMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0.5 };

/** A stream that lasted this long was healthy: its next failure counts as the first one. */
const HEALTHY_MS = 60_000;

/** While this many keys are in the queue, no further key is read from the stream. */
const MAX_QUEUED = 10_000;

/** A longer string is not a key. The key of an object has at most 317 characters. */
const MAX_KEY_LENGTH = 1_024;

/** How long a stream may take to end once its signal is aborted. */
const STOP_MS = 5_000;

/**
 * TriggerStream adds the keys of an external stream to the queue of a controller. It reopens the stream with a backoff,
 * ignores values that are not keys, and stops reading while the queue is long.
 */
export class TriggerStream {
  readonly #options: TriggerStreamOptions;

  constructor(options: TriggerStreamOptions) {
    this.#options = options;
    options.metrics.registerTrigger(options.trigger.name);
  }

  /** run follows the stream until the signal is aborted, and resolves when the stream has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, metrics, trigger } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const openedAt = clock.monotonic();
      const error = await this.#follow(signal);
      if (signal.aborted) return;
      failures = clock.monotonic() - openedAt >= HEALTHY_MS ? 1 : failures + 1;
      const retryInMs = Math.round(backoffMs(failures, BACKOFF, random));
      metrics.triggerFailed(trigger.name);
      log[failures === 1 ? 'warn' : 'debug']('trigger failed, reopening it', {
        trigger: trigger.name,
        error,
        retryInMs,
      });
      await clock.sleep(retryInMs, signal).catch(() => undefined);
    }
  }

  /** follow returns why the stream ended. */
  async #follow(signal: AbortSignal): Promise<unknown> {
    const { trigger, deps, reads, queue } = this.#options;
    let iterator: AsyncIterator<unknown> | undefined;
    try {
      iterator = trigger.keys(signal, deps as never, reads)[Symbol.asyncIterator]();
      while (!signal.aborted) {
        const next = await nextOf(iterator, signal);
        if (!next) break;
        if (next.done) {
          iterator = undefined;
          return new BowlineError(
            'BOWLINE_TRIGGER_ENDED',
            `the trigger ${trigger.name} ended; it must run until its signal is aborted`,
          );
        }
        this.#add(next.value);
        if (queue.size >= MAX_QUEUED) await queue.whenBelow(MAX_QUEUED, signal);
      }
    } catch (error) {
      // A stream that threw has ended.
      iterator = undefined;
      return error;
    }
    await this.#close(iterator);
    return undefined;
  }

  #add(value: unknown): void {
    const { trigger, queue, log, metrics } = this.#options;
    const key = keyFrom(value);
    if (key === undefined) {
      metrics.triggerFailed(trigger.name);
      log.warn('trigger yielded a value that is not a key', { trigger: trigger.name, type: typeof value });
      return;
    }
    metrics.triggered(trigger.name);
    queue.add(key, { cause: { by: 'trigger', trigger: trigger.name } });
  }

  /** A generator that waits for something other than its signal would never end. */
  async #close(iterator: AsyncIterator<unknown> | undefined): Promise<void> {
    const { clock, log, trigger } = this.#options;
    const ended = Promise.resolve(iterator?.return?.()).then(
      () => true,
      () => true,
    );
    const timeout = new AbortController();
    const late = clock.sleep(STOP_MS, timeout.signal).then(
      () => false,
      () => true,
    );
    if (!(await Promise.race([ended, late]))) {
      log.warn('trigger did not end after its signal was aborted', { trigger: trigger.name });
    }
    timeout.abort();
  }
}

/** nextOf waits for the next value, or returns undefined when the signal is aborted first. */
function nextOf(iterator: AsyncIterator<unknown>, signal: AbortSignal): Promise<IteratorResult<unknown> | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    iterator
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function keyFrom(value: unknown): string | undefined {
  if (typeof value === 'string') return value !== '' && value.length <= MAX_KEY_LENGTH ? value : undefined;
  const { name, namespace } = (value ?? {}) as Partial<Record<keyof ObjectKey, unknown>>;
  if (typeof name !== 'string' || name === '' || (namespace !== undefined && typeof namespace !== 'string')) {
    return undefined;
  }
  const key = keyString({ name, namespace });
  return key.length <= MAX_KEY_LENGTH ? key : undefined;
}
