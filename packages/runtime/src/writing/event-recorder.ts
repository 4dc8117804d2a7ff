import { type KubernetesObject, keyString, type Resource } from '@bowline/kubernetes';
import type { ObjectReference } from '@bowline/kubernetes/core-v1';
import { Event } from '@bowline/kubernetes/events-v1';
import {
  BoundedMap,
  type Clock,
  formatMicroTime,
  integerBelow,
  type Random,
  systemClock,
  systemRandom,
} from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { isForbidden, isNotFound } from '../errors/api-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Counter, type Metrics, noMetrics } from '../observability/metrics.ts';
import { boundedMessage, type EventMessage, type EventReport, referenceTo, signatureOf } from './event.ts';
import { TokenBuckets } from './token-buckets.ts';

/** EventRecorderOptions configures a recorder. */
export interface EventRecorderOptions {
  readonly client: Pick<Client, 'create' | 'patch'>;
  /** Who reports: the field manager. */
  readonly controller: string;
  /** Which process reports, for instance the pod's name. At most 128 characters. */
  readonly instance: string;
  /** Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Defaults to silence. */
  readonly log?: Log | undefined;
  /** Defaults to none. */
  readonly metrics?: Metrics | undefined;
  /** How many events an object may have at once. Defaults to 10. */
  readonly burst?: number | undefined;
  /** How long it takes until it may have one more. Defaults to one minute. */
  readonly refillMs?: number | undefined;
  /** How long after the last time the same event is counted up instead of made anew. Defaults to 6 minutes. */
  readonly seriesMs?: number | undefined;
  /** How many events may wait to be sent; more are dropped. Defaults to 1,000. */
  readonly queueLimit?: number | undefined;
  /** How long what waits may still be sent after the stop. Defaults to 2 s. */
  readonly drainMs?: number | undefined;
}

/** The objects, and the kinds of events, that are remembered. */
const MOST_REMEMBERED = 10_000;

/** Said is what one look had to say: messages by their signature, each with the uids of the objects that it was about. */
type Said = ReadonlyMap<string, ReadonlySet<string>>;

const NOTHING: Said = new Map();

interface Pending extends EventReport {
  readonly message: Required<EventMessage>;
  readonly at: number;
}

interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly lastAt: number;
}

/**
 * EventRecorder sends events (`events.k8s.io/v1`, which counts repetitions in `series`; `kubectl describe` and `kubectl get
 * events` show them like any other). Recording never waits and never fails: an event that cannot be sent is dropped, counted
 * and logged. What is said again and again about an object is sent once, counted up when it comes back, and bounded.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #counter: Counter;
  readonly #buckets: TokenBuckets;
  readonly #series = new BoundedMap<string, Series>({ maxEntries: MOST_REMEMBERED });
  readonly #said = new BoundedMap<string, Said>({ maxEntries: MOST_REMEMBERED });
  readonly #queue: Pending[] = [];
  #wake: () => void = () => undefined;
  #isRefused = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log ?? silentLog;
    this.#buckets = new TokenBuckets({
      clock: this.#clock,
      burst: options.burst ?? 10,
      refillMs: options.refillMs ?? 60_000,
      limit: MOST_REMEMBERED,
    });
    this.#counter = (options.metrics ?? noMetrics).counter({
      name: 'bowline_events_total',
      help: 'Events by what became of them.',
      labels: ['controller', 'result'],
    });
    for (const result of ['created', 'counted', 'limited', 'overflow', 'failed'] as const) this.#count(result, 0);
  }

  /**
   * transitions takes all that one look at an object had to say. Only what the look before it did not say is recorded, so
   * that a state which lasts is reported when it begins, and again when it comes back. Where there was no look before,
   * `isNews` says whether it is reported: after a restart nothing is, but what has changed meanwhile. Defaults to true.
   */
  transitions(
    resource: Resource,
    object: KubernetesObject,
    messages: readonly EventMessage[],
    { isNews = true }: { readonly isNews?: boolean | undefined } = {},
  ): void {
    const reports = messages.map((message) => ({ regarding: referenceTo(resource, object), message }));
    this.#look(object.metadata?.uid ?? '', reports, isNews);
  }

  /**
   * reports is `transitions` for a look that is about no single object: `look` says which one it was, and what it says of an
   * object is compared with what the look before it said of the same one. Several looks may speak of one object; none
   * takes back what another said.
   */
  reports(look: string, reports: readonly EventReport[]): void {
    this.#look(look, reports, true);
  }

  #look(look: string, reports: readonly EventReport[], isNews: boolean): void {
    const before = this.#said.get(look);
    const now = new Map<string, Set<string>>();
    for (const { regarding, message } of reports) {
      const { uid = '' } = regarding;
      const signature = signatureOf(boundedMessage(message));
      const about = now.get(signature) ?? new Set();
      const isSaid = about.has(uid) || (before ? before.get(signature)?.has(uid) : !isNews);
      now.set(signature, about.add(uid));
      if (!isSaid) this.#record(regarding, message);
    }
    this.#said.set(look, now.size > 0 ? now : NOTHING);
  }

  /** record sends one event, unless its object has had too many. */
  record(resource: Resource, object: KubernetesObject, message: EventMessage): void {
    this.#record(referenceTo(resource, object), message);
  }

  #record(regarding: ObjectReference, message: EventMessage): void {
    if (!this.#buckets.take(regarding.uid ?? '')) {
      this.#count('limited');
    } else if (this.#queue.length >= (this.#options.queueLimit ?? 1_000)) {
      this.#count('overflow');
    } else {
      this.#queue.push({ regarding, message: boundedMessage(message), at: this.#clock.now() });
      this.#wake();
    }
  }

  /** run sends what is recorded until the signal is aborted, then what is left for a short while, and resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const sending = new AbortController();
    let deadline: Disposable | undefined;
    const stop = (): void => {
      deadline = this.#clock.setTimer(this.#options.drainMs ?? 2_000, () => sending.abort(signal.reason));
      this.#wake();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    try {
      while (!sending.signal.aborted) {
        const next = this.#queue.shift();
        if (next) await this.#send(next, sending.signal);
        else if (signal.aborted) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
      this.#count('failed', this.#queue.length);
      this.#queue.length = 0;
    } finally {
      signal.removeEventListener('abort', stop);
      deadline?.[Symbol.dispose]();
    }
  }

  async #send(pending: Pending, signal: AbortSignal): Promise<void> {
    const key = JSON.stringify([pending.regarding.uid, signatureOf(pending.message)]);
    try {
      const series = this.#series.get(key);
      if (series && pending.at - series.lastAt <= (this.#options.seriesMs ?? 360_000)) {
        if (await this.#countUp(key, series, pending, signal)) return this.#count('counted');
      }
      await this.#create(key, pending, signal);
      this.#count('created');
    } catch (error) {
      this.#count('failed');
      // Without the right to, every event fails alike: say it once.
      const isNews = !isForbidden(error) || !this.#isRefused;
      this.#isRefused ||= isForbidden(error);
      if (!isNews || signal.aborted) return;
      const { kind, namespace, name = '' } = pending.regarding;
      this.#log.warn('an event was not sent', {
        kind,
        object: keyString({ namespace, name }),
        reason: pending.message.reason,
        error,
      });
    }
  }

  async #create(key: string, pending: Pending, signal: AbortSignal): Promise<void> {
    const { client, controller, instance } = this.#options;
    const { regarding, message, at } = pending;
    // Events about cluster-scoped objects are in this namespace: the API server wants it.
    const namespace = regarding.namespace ?? 'default';
    const name = this.#name(regarding.name ?? '', at);
    const event: Event = {
      metadata: { namespace, name },
      eventTime: formatMicroTime(at),
      reportingController: controller,
      reportingInstance: instance.slice(0, 128),
      regarding,
      ...message,
    };
    await client.create(Event, event, { fieldManager: controller, signal });
    this.#series.set(key, { namespace, name, count: 1, lastAt: at });
  }

  /** countUp answers false when the event is no longer there: they live for an hour. */
  async #countUp(key: string, series: Series, { at }: Pending, signal: AbortSignal): Promise<boolean> {
    const { client, controller } = this.#options;
    const count = series.count + 1;
    const body = { series: { count, lastObservedTime: formatMicroTime(at) } };
    try {
      await client.patch(Event, series, { type: 'merge', body }, { fieldManager: controller, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#series.delete(key);
      return false;
    }
    this.#series.set(key, { ...series, count, lastAt: at });
    return true;
  }

  /** Names carry the time, as everybody's do, and chance, because several processes report about one object. */
  #name(object: string, at: number): string {
    const suffix = `.${Math.floor(at).toString(16)}${integerBelow(this.#random, 2 ** 32)
      .toString(16)
      .padStart(8, '0')}`;
    return `${object.slice(0, 253 - suffix.length).replace(/[-.]+$/, '')}${suffix}`;
  }

  #count(result: 'created' | 'counted' | 'limited' | 'overflow' | 'failed', amount = 1): void {
    this.#counter.add({ controller: this.#options.controller, result }, amount);
  }
}
