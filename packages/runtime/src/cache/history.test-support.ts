import type { ObjectKey } from '@bowline/kubernetes';
import { keyString } from '@bowline/kubernetes';

/** StoredObject is a ConfigMap as stored by the scripted server. */
export interface StoredObject {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly object[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

/** Content is what a write sets. */
export interface Content {
  readonly labels?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
}

/** Revision is one change: the object before and after it. `after` of a deletion has the version of the deletion. */
export interface Revision {
  readonly version: number;
  readonly deleted: boolean;
  readonly before: StoredObject | undefined;
  readonly after: StoredObject;
}

/** NamespacedKey is the key of a namespaced object. */
export type NamespacedKey = ObjectKey & { readonly namespace: string };

/** History is every state that a server ever had, by resourceVersion: the oracle of the model test. */
export class History {
  #revisions: Revision[] = [];
  #state = new Map<string, StoredObject>();
  #current: number;
  #compacted = 0;
  #uids = 0;

  constructor(start = 1000) {
    this.#current = start;
  }

  /** current is the newest resourceVersion. */
  get current(): number {
    return this.#current;
  }

  /** compacted is the version up to which changes are forgotten. */
  get compacted(): number {
    return this.#compacted;
  }

  /** put creates or updates an object. `step` is how far the version moves: other kinds move it too. */
  put(key: NamespacedKey, content: Content, step = 1): StoredObject {
    const before = this.get(key);
    this.#current += step;
    const after: StoredObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        namespace: key.namespace,
        name: key.name,
        uid: before?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: String(this.#current),
        labels: content.labels ?? {},
        managedFields: [{ manager: 'test' }],
      },
      data: content.data ?? {},
    };
    this.#revisions.push({ version: this.#current, deleted: false, before, after });
    this.#state.set(keyString(key), after);
    return after;
  }

  /** remove deletes an object and returns its last state. */
  remove(key: NamespacedKey, step = 1): StoredObject | undefined {
    const before = this.get(key);
    if (!before) return undefined;
    this.#current += step;
    const after = { ...before, metadata: { ...before.metadata, resourceVersion: String(this.#current) } };
    this.#revisions.push({ version: this.#current, deleted: true, before, after });
    this.#state.delete(keyString(key));
    return before;
  }

  /** touch moves the version like a write to another kind. */
  touch(step = 1): void {
    this.#current += step;
  }

  get(key: NamespacedKey): StoredObject | undefined {
    return this.#state.get(keyString(key));
  }

  /** at returns the state at a version. */
  at(version: number): Map<string, StoredObject> {
    const state = new Map<string, StoredObject>();
    for (const { version: at, deleted, after } of this.#revisions) {
      if (at > version) break;
      if (deleted) state.delete(keyString(after.metadata));
      else state.set(keyString(after.metadata), after);
    }
    return state;
  }

  /** since returns the changes after a version, in order. */
  since(version: number): readonly Revision[] {
    return this.#revisions.filter((revision) => revision.version > version);
  }

  /** compact forgets the changes up to a version: watches from before it are rejected. */
  compact(version: number): void {
    this.#compacted = Math.max(this.#compacted, Math.min(version, this.#current));
  }

  /** restore goes back to an older version, like an etcd restored from a backup. */
  restore(version: number): void {
    this.#revisions = this.#revisions.filter((revision) => revision.version <= version);
    this.#current = version;
    this.#compacted = Math.min(this.#compacted, version);
    this.#state = this.at(version);
  }
}
