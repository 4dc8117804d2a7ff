import { MANAGER } from '../../../operators/ztwim/src/api/names.ts';
import { BareObserver } from '../../support/bare-observer.ts';
import { type BareEvent, type BareObject, watchListPath } from '../../support/bare-watch.ts';
import { collectionOf, FIVE } from './five-objects.ts';
import { collectionPath, keyOf } from './recorded-writes.ts';
import type { ZtwimScene } from './scene.ts';

const timeoutMs = 180_000;

/** ObservedEvent is an event of a watch. */
export interface ObservedEvent {
  readonly type: BareEvent['type'];
  /** The kind and the name of the object. */
  readonly key: string;
  readonly object: BareObject;
  /** When it arrived, as `performance.now()`. */
  readonly arrivedMs: number;
}

/** ObjectWatch observes objects of several kinds with bare watches: the same observer for every subject. */
export class ObjectWatch implements Disposable {
  readonly #observer: BareObserver;
  /** The objects by kind and name. */
  readonly objects = new Map<string, BareObject>();
  /** The events since the last call of `forget`. */
  events: ObservedEvent[] = [];

  constructor(connection: ZtwimScene['connection'], paths: readonly string[]) {
    this.#observer = new BareObserver(connection, paths, ({ type, object }, arrivedMs) => {
      const key = `${object.kind}/${object.metadata.name}`;
      if (type === 'DELETED') this.objects.delete(key);
      else this.objects.set(key, object);
      this.events.push({ type, key, object, arrivedMs });
    });
  }

  /** synced resolves once all watches are established. */
  synced(): Promise<void> {
    return this.#observer.synced();
  }

  /** forget drops the events so far. */
  forget(): void {
    this.events = [];
  }

  /** until waits until the condition holds, and returns when the last event before that arrived. */
  async until(condition: () => boolean, waitingFor: string): Promise<number> {
    await this.#observer.until(condition, {
      timeoutMs,
      describe: () => `for ${waitingFor}; found ${[...this.objects.keys()].join(', ')}`,
    });
    return this.events.at(-1)?.arrivedMs ?? performance.now();
  }

  [Symbol.dispose](): void {
    this.#observer[Symbol.dispose]();
  }
}

/** watchChildren observes the objects of all operands. */
export async function watchChildren({ connection, known }: ZtwimScene): Promise<ObjectWatch> {
  const collections = new Set((known.writes?.children ?? []).map(collectionPath));
  const selector = `labelSelector=${encodeURIComponent(`app.kubernetes.io/managed-by=${MANAGER}`)}`;
  return open(connection, [...collections], selector);
}

/** watchFive observes the five objects. */
export function watchFive({ connection }: ZtwimScene): Promise<ObjectWatch> {
  return open(connection, FIVE.map(collectionOf), 'fieldSelector=metadata.name%3Dcluster');
}

async function open(
  connection: ZtwimScene['connection'],
  collections: readonly string[],
  selector: string,
): Promise<ObjectWatch> {
  const watch = new ObjectWatch(
    connection,
    collections.map((collection) => `${watchListPath(collection)}&${selector}`),
  );
  await watch.synced();
  return watch;
}

/** untilComplete waits until all objects of the operands exist, and returns when the last one was observed. */
export function untilComplete(watch: ObjectWatch, { known }: ZtwimScene): Promise<number> {
  const keys = (known.writes?.children ?? []).map(keyOf);
  return watch.until(() => keys.every((key) => watch.objects.has(key)), `${keys.length} objects`);
}

/** untilEmpty waits until no observed object exists, and returns when the last one was deleted. */
export function untilEmpty(watch: ObjectWatch): Promise<number> {
  return watch.until(() => watch.objects.size === 0, 'the end of all objects');
}
