import { createHash } from 'node:crypto';
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
import { isAlreadyExists, isForbidden, isNotFound } from '../errors/api-error.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Counter, type Metrics, noMetrics } from '../observability/metrics.ts';
import { boundedMessage, type EventMessage, type EventReport, referenceTo, signatureOf } from './event.ts';
import { EventQueue, type QueuedEvent } from './event-queue.ts';
import { TokenBuckets } from './token-buckets.ts';

/** EventRecorderOptions configures a recorder. */
export interface EventRecorderOptions {
  readonly client: Pick<Client, 'create' | 'patch'>;
  /** The reporting controller: the field manager. */
  readonly controller: string;
  /** The reporting process, for example the name of the Pod. At most 128 characters. */
  readonly instance: string;
  /** Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
  /** Defaults to a silent log. */
  readonly log?: Log | undefined;
  /** Defaults to none. */
  readonly metrics?: Metrics | undefined;
  /** How many events about one object may be sent at once. Defaults to 10. */
  readonly burst?: number | undefined;
  /** How long until one more event about the object is allowed. Defaults to one minute. */
  readonly refillMs?: number | undefined;
  /**
   * How long after its last occurrence the same event is counted up instead of created again. Defaults to 6 minutes.
   */
  readonly seriesMs?: number | undefined;
  /**
   * How many events may wait to be sent. A full queue drops normal events first, then those of the namespace that has
   * the most waiting. Defaults to 5,000.
   */
  readonly queueLimit?: number | undefined;
  /**
   * How many events are sent at the same time. A quarter of them may be normal events, so that those do not compete
   * with the controllers' own writes. Defaults to 8.
   */
  readonly concurrency?: number | undefined;
  /** How long waiting events may still be sent after the stop. Defaults to 2 s. */
  readonly drainMs?: number | undefined;
}

/** How many objects, and how many kinds of events, are remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * Novelty is what is known about whether an event was sent before, by this or an earlier process: `new` is a state that
 * just began; `unknown` may have begun earlier; `known` began earlier, so it is enough that its event exists.
 */
type Novelty = 'new' | 'unknown' | 'known';

/**
 * ReportedMessages holds the events of one observation by their key: `sent` if the event waits or was delivered, else
 * the novelty with which it has to be sent.
 */
type ReportedMessages = Map<string, 'sent' | Novelty>;

const NOTHING: ReportedMessages = new Map();

/** Pending is a waiting event, together with its repetitions. */
interface Pending extends QueuedEvent {
  readonly regarding: ObjectReference;
  readonly message: Required<EventMessage>;
  readonly firstAt: number;
  lastAt: number;
  count: number;
  novelty: Novelty;
  /** The observers that count it as sent, and must send it again if it is not delivered. */
  readonly observers: string[];
}

type Recordable = Pick<Pending, 'regarding' | 'message' | 'key'>;

interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly lastAt: number;
}

const RESULTS = ['created', 'counted', 'present', 'limited', 'overflow', 'failed'] as const;

/**
 * EventRecorder sends events (`events.k8s.io/v1`, which counts repetitions in `series`; `kubectl describe` and `kubectl
 * get events` show them like any other). Recording never waits and never fails. A message that is repeated about an
 * object is sent once, counted up when it recurs, and rate limited.
 *
 * Several events are sent concurrently: warnings before normal ones, the namespaces in turn. An event that was not
 * delivered (the queue was full, the object had too many, the server rejected it) does not count as sent: the next
 * observation that reports it sends it again. The first event of a kind about an object has a name derived from its
 * content, so that a process that does not know whether an earlier one delivered it can send it without repeating it.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #counter: Counter;
  readonly #buckets: TokenBuckets;
  readonly #series = new BoundedMap<string, Series>({ maxEntries: MAX_REMEMBERED });
  readonly #reported = new BoundedMap<string, ReportedMessages>({ maxEntries: MAX_REMEMBERED });
  readonly #queue: EventQueue<Pending>;
  /** The events in flight by key, each with the event that was recorded under the same key meanwhile. */
  readonly #sending = new Map<string, Pending | undefined>();
  /** The senders that wait for an event, by what they send. */
  readonly #idle = { any: new Set<() => void>(), warnings: new Set<() => void>() };
  #isRefused = false;
  #isOverflowing = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#log = options.log ?? silentLog;
    this.#queue = new EventQueue(options.queueLimit ?? 5_000);
    this.#buckets = new TokenBuckets({
      clock: this.#clock,
      burst: options.burst ?? 10,
      refillMs: options.refillMs ?? 60_000,
      limit: MAX_REMEMBERED,
    });
    this.#counter = (options.metrics ?? noMetrics).counter({
      name: 'bowline_events_total',
      help: 'Events by result.',
      labels: ['controller', 'result'],
    });
    for (const result of RESULTS) this.#count(result, 0);
  }

  /**
   * transitions takes all messages of one observation of an object. Only those that the previous one did not report are
   * recorded, so that a lasting state is reported when it begins, and again when it recurs. `isNews` applies to the
   * first observation of a process, which has no previous one: true reports everything; false reports warnings unless
   * an earlier process has delivered them, and nothing else. Defaults to true. `reports` are about other objects.
   */
  transitions(
    resource: Resource,
    object: KubernetesObject,
    messages: readonly EventMessage[],
    { isNews = true, reports = [] }: TransitionOptions = {},
  ): void {
    const observer = object.metadata?.uid ?? '';
    if (messages.length === 0) {
      this.#observe(observer, reports, isNews ? 'new' : 'known');
      return;
    }
    const regarding = referenceTo(resource, object);
    const own = messages.map((message) => ({ regarding, message }));
    this.#observe(observer, [...own, ...reports], isNews ? 'new' : 'known');
  }

  /**
   * reports is like `transitions` for an observation of no single object: the messages about an object are compared
   * with those that the same `observer` reported about it before. Several observers may report on one object; none
   * withdraws the messages of another. Messages of the first observation are sent unless an earlier process delivered
   * them.
   */
  reports(observer: string, reports: readonly EventReport[]): void {
    this.#observe(observer, reports, 'unknown');
  }

  /** `first` is the novelty of the messages of the first observation. */
  #observe(observer: string, reports: readonly EventReport[], first: Novelty): void {
    if (reports.length === 0) {
      this.#reported.set(observer, NOTHING);
      return;
    }
    const before = this.#reported.get(observer);
    const now: ReportedMessages = new Map();
    const unsent: [Recordable, Novelty][] = [];
    for (const { regarding, message } of reports) {
      const bounded = boundedMessage(message);
      const key = keyOfEvent(regarding, bounded);
      if (now.has(key)) continue;
      now.set(key, 'sent');
      const known = before?.get(key) ?? (before ? 'new' : first);
      // A lasting state that is not a warning was announced when it began, or is not worth a request to find out.
      if (known === 'sent' || (known === 'known' && message.type === 'Normal')) continue;
      unsent.push([{ regarding, message: bounded, key }, known]);
    }
    // Stored first, so that events that are not accepted below can be marked in it.
    this.#reported.set(observer, now);
    for (const [event, novelty] of unsent) this.#record(event, novelty, observer);
  }

  /** record sends one event, unless its object has had too many. */
  record(resource: Resource, object: KubernetesObject, message: EventMessage): void {
    const bounded = boundedMessage(message);
    const regarding = referenceTo(resource, object);
    this.#record({ regarding, message: bounded, key: keyOfEvent(regarding, bounded) }, 'new');
  }

  #record(event: Recordable, novelty: Novelty, observer?: string): void {
    const { regarding, message } = event;
    const { uid = '' } = regarding;
    const at = this.#clock.now();
    const pending: Pending = {
      ...event,
      // Events about cluster-scoped objects belong to this namespace: the API server requires it.
      namespace: regarding.namespace ?? 'default',
      isWarning: message.type === 'Warning',
      firstAt: at,
      lastAt: at,
      count: 1,
      novelty,
      observers: observer === undefined ? [] : [observer],
    };
    if (!this.#buckets.take(uid)) {
      this.#count('limited');
      this.#markUndelivered(pending);
      return;
    }
    const waiting = this.#sending.get(pending.key) ?? this.#queue.find(pending);
    if (waiting) merge(waiting, pending);
    else if (this.#sending.has(pending.key)) this.#sending.set(pending.key, pending);
    else this.#enqueue(pending);
  }

  #enqueue(pending: Pending): void {
    const dropped = this.#queue.add(pending);
    if (dropped) {
      this.#count('overflow');
      this.#markUndelivered(dropped);
      if (!this.#isOverflowing) {
        this.#log.warn('too many events wait to be sent, dropping some until a later reconcile reports them again', {
          waiting: this.#queue.size,
        });
      }
      this.#isOverflowing = true;
    }
    const { any, warnings } = this.#idle;
    const senders = pending.isWarning && warnings.size > 0 ? warnings : any;
    for (const wake of senders) {
      senders.delete(wake);
      wake();
      return;
    }
  }

  /** markUndelivered lets the next observation that reports the event record it again. */
  #markUndelivered({ key, observers, novelty }: Pending): void {
    for (const observer of observers) {
      const reported = this.#reported.get(observer);
      if (reported?.has(key)) reported.set(key, novelty);
    }
  }

  /** run sends recorded events until the signal is aborted, then the remaining ones for a short while, and resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const sending = new AbortController();
    let deadline: Disposable | undefined;
    const stop = (): void => {
      deadline = this.#clock.setTimer(this.#options.drainMs ?? 2_000, () => sending.abort(signal.reason));
      for (const senders of Object.values(this.#idle)) {
        for (const wake of senders) wake();
        senders.clear();
      }
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    try {
      const { concurrency = 8 } = this.#options;
      const forAny = Math.ceil(concurrency / 4);
      const send = (_: unknown, index: number): Promise<void> =>
        this.#sendAll(index < forAny ? 'any' : 'warnings', signal, sending.signal);
      await Promise.all(Array.from({ length: concurrency }, send));
      for (let left = this.#queue.take(); left; left = this.#queue.take()) this.#fail(left);
    } finally {
      signal.removeEventListener('abort', stop);
      deadline?.[Symbol.dispose]();
    }
  }

  async #sendAll(what: 'any' | 'warnings', signal: AbortSignal, sending: AbortSignal): Promise<void> {
    while (!sending.aborted) {
      const next = what === 'any' ? this.#queue.take() : this.#queue.takeWarning();
      if (next) {
        // One event per key at a time, or a repetition would not know which event it repeats.
        this.#sending.set(next.key, undefined);
        await this.#send(next, sending);
        const again = this.#sending.get(next.key);
        this.#sending.delete(next.key);
        if (again) this.#enqueue(again);
      } else if (signal.aborted) {
        return;
      } else {
        if (what === 'any') this.#isOverflowing = false;
        await new Promise<void>((resolve) => {
          this.#idle[what].add(resolve);
        });
      }
    }
  }

  async #send(pending: Pending, signal: AbortSignal): Promise<void> {
    try {
      this.#count(await this.#deliver(pending, signal));
    } catch (error) {
      this.#fail(pending);
      // Without the permission every event fails in the same way: log it once.
      const isNews = !isForbidden(error) || !this.#isRefused;
      this.#isRefused ||= isForbidden(error);
      if (!isNews || signal.aborted) return;
      const { kind, namespace, name = '' } = pending.regarding;
      this.#log.warn('cannot send an event', {
        kind,
        object: keyString({ namespace, name }),
        reason: pending.message.reason,
        error,
      });
    }
  }

  #fail(pending: Pending): void {
    this.#count('failed');
    this.#markUndelivered(pending);
  }

  async #deliver(pending: Pending, signal: AbortSignal): Promise<(typeof RESULTS)[number]> {
    const series = this.#series.get(pending.key);
    if (series === undefined) {
      const name = this.#name(pending, contentHash(this.#options.controller, pending));
      if (await this.#create(pending, name, signal)) return 'created';
      // An earlier process delivered it. If the state ended since and begins again, that is an event of its own.
      if (pending.novelty !== 'new') return 'present';
    } else if (pending.novelty === 'known') {
      return 'present';
    } else if (pending.firstAt - series.lastAt <= (this.#options.seriesMs ?? 360_000)) {
      if (await this.#countUp(series, pending, signal)) return 'counted';
    }
    await this.#create(pending, this.#name(pending, this.#uniqueSuffix(pending)), signal);
    return 'created';
  }

  /** create returns false when an event of that name exists. */
  async #create(pending: Pending, name: string, signal: AbortSignal): Promise<boolean> {
    const { client, controller, instance } = this.#options;
    const { key, namespace, regarding, message, firstAt, lastAt, count } = pending;
    const event: Event = {
      metadata: { namespace, name },
      eventTime: formatMicroTime(firstAt),
      reportingController: controller,
      reportingInstance: instance.slice(0, 128),
      regarding,
      ...message,
      ...(count > 1 ? { series: { count, lastObservedTime: formatMicroTime(lastAt) } } : {}),
    };
    try {
      await client.create(Event, event, { fieldManager: controller, signal });
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
    this.#series.set(key, { namespace, name, count, lastAt });
    return true;
  }

  /** countUp returns false when the event is gone: events live for an hour. */
  async #countUp(series: Series, pending: Pending, signal: AbortSignal): Promise<boolean> {
    const { client, controller } = this.#options;
    const { key, lastAt } = pending;
    const count = series.count + pending.count;
    const body = { series: { count, lastObservedTime: formatMicroTime(lastAt) } };
    try {
      await client.patch(Event, series, { type: 'merge', body }, { fieldManager: controller, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#series.delete(key);
      return false;
    }
    this.#series.set(key, { ...series, count, lastAt });
    return true;
  }

  #name({ regarding: { name = '' } }: Pending, suffix: string): string {
    return `${name.slice(0, 252 - suffix.length).replace(/[-.]+$/, '')}.${suffix}`;
  }

  /**
   * The time, as in the names of other reporters, and a random part, because several processes report about one object.
   */
  #uniqueSuffix({ firstAt }: Pending): string {
    const randomPart = integerBelow(this.#random, 2 ** 32);
    return `${Math.floor(firstAt).toString(16)}${randomPart.toString(16).padStart(8, '0')}`;
  }

  #count(result: (typeof RESULTS)[number], amount = 1): void {
    this.#counter.add({ controller: this.#options.controller, result }, amount);
  }
}

/** TransitionOptions describes an observation of an object. */
export interface TransitionOptions {
  readonly isNews?: boolean | undefined;
  readonly reports?: readonly EventReport[] | undefined;
}

function merge(waiting: Pending, again: Pending): void {
  waiting.count += 1;
  waiting.lastAt = again.lastAt;
  if (again.novelty === 'new') waiting.novelty = 'new';
  for (const observer of again.observers) if (!waiting.observers.includes(observer)) waiting.observers.push(observer);
}

/** The same in every process of a controller, for the same message about the same object. */
function contentHash(controller: string, { key }: Pending): string {
  return createHash('sha256')
    .update(JSON.stringify([controller, key]))
    .digest('hex')
    .slice(0, 16);
}

/** The same for events that can be sent as one: those with the same message about the same object. */
function keyOfEvent({ uid = '' }: ObjectReference, message: Required<EventMessage>): string {
  return `${uid} ${signatureOf(message)}`;
}
