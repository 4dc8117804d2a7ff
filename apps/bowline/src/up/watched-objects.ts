import { Event, type KubernetesObject, keyOf, keyString, type Resource } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import type { Operator } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { DisplayState } from '@bowline/runtime/manager';
import { fieldManagerOf } from '@bowline/runtime/writing';
import { displayedResources } from './displayed-resources.ts';

/** ObjectState holds what users want to know about an object. */
export interface ObjectState extends DisplayState {
  readonly operator: string;
  readonly kind: string;
  /** `namespace/name`, or `name` of a cluster-scoped object. */
  readonly key: string;
}

/** DisplayedEvent is an event about an object, formatted for people. */
export interface DisplayedEvent {
  readonly at: string;
  readonly isWarning: boolean;
  readonly text: string;
}

const MAX_EVENTS = 100;
const WATCH_RETRY_DELAY_MS = 1_000;

/**
 * WatchedObjects watches the objects that show the effect of the operators, and the operators' events.
 */
export class WatchedObjects {
  readonly #client: Client;
  readonly #operators: readonly Operator[];
  readonly #states = new Map<string, ObjectState>();
  readonly #events: DisplayedEvent[] = [];
  readonly #changed: () => void;
  readonly #waiting = new Set<() => void>();
  #total = 0;

  constructor(client: Client, operators: readonly Operator[], changed: () => void) {
    this.#client = client;
    this.#operators = operators;
    this.#changed = () => {
      changed();
      for (const check of this.#waiting) check();
    };
  }

  /** states returns the existing objects, sorted by operator, kind and name. */
  states(): readonly ObjectState[] {
    const order = ({ operator, kind, key }: ObjectState): string => `${operator} ${kind} ${key}`;
    return [...this.#states.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }

  /** events returns the latest events, oldest first. */
  events(): readonly DisplayedEvent[] {
    return this.#events;
  }

  /** total returns how many events there were, including those no longer kept. */
  get total(): number {
    return this.#total;
  }

  /** until resolves with true once the objects pass a test. */
  until(test: (states: readonly ObjectState[]) => boolean, signal: AbortSignal): Promise<true> {
    return new Promise((resolve, reject) => {
      const cleanUp = (): void => {
        this.#waiting.delete(check);
        signal.removeEventListener('abort', stop);
      };
      const check = (): void => {
        if (!test(this.states())) return;
        cleanUp();
        resolve(true);
      };
      const stop = (): void => {
        cleanUp();
        reject(signal.reason);
      };
      if (signal.aborted) {
        stop();
        return;
      }
      signal.addEventListener('abort', stop);
      this.#waiting.add(check);
      check();
    });
  }

  /** run watches until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const kinds = this.#operators.flatMap((operator) =>
      displayedResources(operator).map(({ resource, labelSelector, state }) =>
        this.#watch(resource, { labelSelector, signal }, (type, object) => {
          const about = { operator: operator.name, kind: resource.kind };
          // The kind and the function were declared together.
          this.#updateState(about, type, object, () => state(object as never));
        }),
      ),
    );
    await Promise.all([...kinds, this.#watch(Event, { signal }, (type, event) => this.#addEvent(type, event))]);
  }

  async #watch<T extends KubernetesObject>(
    resource: Resource<T>,
    options: { readonly labelSelector?: string | undefined; readonly signal: AbortSignal },
    handle: (type: string, object: T) => void,
  ): Promise<void> {
    const { signal } = options;
    while (!signal.aborted) {
      try {
        // Without a resourceVersion a watch begins with the existing objects.
        for await (const { type, object } of await this.#client.watch(resource, options)) handle(type, object);
      } catch {
        // The view is for people: what this watch misses, the next one shows a moment later.
      }
      await systemClock.sleep(WATCH_RETRY_DELAY_MS, signal).catch(() => undefined);
    }
  }

  #updateState(
    { operator, kind }: Pick<ObjectState, 'operator' | 'kind'>,
    type: string,
    object: KubernetesObject,
    state: () => DisplayState,
  ): void {
    if (type === 'BOOKMARK') return;
    const key = keyString(keyOf(object));
    const id = `${operator} ${kind} ${key}`;
    if (type === 'DELETED') this.#states.delete(id);
    else this.#states.set(id, { operator, kind, key, ...state() });
    this.#changed();
  }

  #addEvent(type: string, event: Event): void {
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    const { involvedObject: about, reason = '', message = '', lastTimestamp, eventTime, metadata } = event;
    // An event names the controller that reports it: events of other reporters are left out.
    const { reportingComponent = '' } = event;
    if (!this.#operators.some((operator) => reportingComponent.startsWith(fieldManagerOf(operator, '')))) return;
    this.#events.push({
      at: String(eventTime ?? lastTimestamp ?? metadata.creationTimestamp ?? ''),
      isWarning: event.type === 'Warning',
      text: `${about.kind} ${keyString({ namespace: about.namespace, name: about.name ?? '' })} ${reason}: ${message}`,
    });
    this.#total++;
    if (this.#events.length > MAX_EVENTS) this.#events.shift();
    this.#changed();
  }
}
