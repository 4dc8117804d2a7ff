import { apiVersionOf, type KubernetesObject, type Resource } from '@bowline/kubernetes';
import { type Clock, formatTime, isSameJson } from '@bowline/machinery';

/** MemoryObject is an object in the storage of a MemoryApiServer. */
export interface MemoryObject extends KubernetesObject {
  readonly [field: string]: unknown;
}

/** ObjectChange is a change of the storage. `before` is undefined for a new object. */
export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: Resource;
  readonly object: MemoryObject;
  readonly before: MemoryObject | undefined;
}

/** PartialKey identifies an object; a request may lack its parts. */
export interface PartialKey {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** MemoryObjects stores objects, sets the metadata that only a server sets, and reports every change. */
export class MemoryObjects {
  readonly #objects = new Map<string, MemoryObject>();
  readonly #clock: Clock;
  readonly #onChange: (change: ObjectChange) => void;
  #version = 1;
  #uid = 0;

  constructor(clock: Clock, onChange: (change: ObjectChange) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** resourceVersion returns the version of the last change. */
  get resourceVersion(): string {
    return String(this.#version);
  }

  get(kind: Resource, key: PartialKey): MemoryObject | undefined {
    return this.#objects.get(objectId(kind, key));
  }

  /** all returns every object of a kind. */
  all(kind: Resource): readonly MemoryObject[] {
    return [...this.#objects].filter(([id]) => id.startsWith(`${kindId(kind)}|`)).map(([, object]) => object);
  }

  /** store stores an object over an existing one, or as a new one. */
  store(kind: Resource, wanted: MemoryObject, existing: MemoryObject | undefined): MemoryObject {
    const { metadata = {} } = wanted;
    const isNewSpec = existing === undefined || !isSameJson(specOf(existing), specOf(wanted));
    const generation = existing?.metadata?.generation ?? (existing ? 1 : (metadata.generation ?? 1) - 1);
    const now = formatTime(this.#clock.now());
    const object: MemoryObject = {
      ...wanted,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: {
        ...metadata,
        uid: existing?.metadata?.uid ?? metadata.uid ?? `uid-${++this.#uid}`,
        creationTimestamp: existing?.metadata?.creationTimestamp ?? metadata.creationTimestamp ?? now,
        generation: isNewSpec ? generation + 1 : generation,
        resourceVersion: String(++this.#version),
      },
    };
    this.#objects.set(objectId(kind, object.metadata ?? {}), object);
    this.#onChange({ type: existing ? 'MODIFIED' : 'ADDED', kind, object, before: existing });
    return object;
  }

  /** markDeleted sets the deletion timestamp of an object that has finalizers. */
  markDeleted(kind: Resource, existing: MemoryObject): MemoryObject {
    const metadata = { ...existing.metadata, deletionTimestamp: formatTime(this.#clock.now()) };
    return this.store(kind, { ...existing, metadata }, existing);
  }

  /** remove deletes an object, ignoring finalizers. */
  remove(kind: Resource, key: PartialKey): void {
    const existing = this.get(kind, key);
    if (existing === undefined) return;
    this.#objects.delete(objectId(kind, key));
    const object: MemoryObject = {
      ...existing,
      metadata: { ...existing.metadata, resourceVersion: String(++this.#version) },
    };
    this.#onChange({ type: 'DELETED', kind, object, before: existing });
  }
}

/** kindId identifies a kind by its path. */
export function kindId({ group, plural }: Pick<Resource, 'group' | 'plural'>): string {
  return `${group}/${plural}`;
}

function objectId(kind: Resource, { namespace, name }: PartialKey): string {
  return `${kindId(kind)}|${namespace ?? ''}|${name ?? ''}`;
}

function specOf(object: MemoryObject): object {
  const { metadata: _, status: __, apiVersion: ___, kind: ____, ...spec } = object;
  return JSON.parse(JSON.stringify(spec)) as object;
}
