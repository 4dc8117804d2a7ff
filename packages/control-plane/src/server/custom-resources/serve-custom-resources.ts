import type { CustomResourceDefinition } from '@bowline/kubernetes';
import { type Clock, formatTime, isSameJson } from '@bowline/machinery';
import type { FieldTracking } from '../fields/field-tracking.ts';
import { draftOf } from '../printing/render.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { Storage } from '../storage/storage.ts';
import { objectOf, type Stored, splitKey } from '../storage/stored.ts';
import { conditionOf, isTerminating, withCondition } from './conditions.ts';
import { CLEANUP, collectionOf, definitionOf, withDefinitionRules } from './definition-rules.ts';
import { nextStatus } from './next-status.ts';
import { loadSchemaEngine } from './schema-engine.ts';
import { ServedDefinitions } from './served-definitions.ts';

const GROUP = 'apiextensions.k8s.io';
const MANAGER = 'kube-apiserver';

/** CustomResourcesOptions holds the dependencies of serving custom resources. */
export interface CustomResourcesOptions {
  readonly storage: Storage;
  /** Must already hold the built-in kinds. */
  readonly registry: Registry;
  readonly fields: FieldTracking;
  readonly clock: Clock;
  /** Receives errors that are bugs and belong to no request. */
  readonly onError: (error: unknown) => void;
}

/**
 * serveCustomResources serves the resources of CustomResourceDefinitions: those of stored definitions before it
 * resolves, and those of every other definition from when it is established until its last object is deleted. Disposing
 * of it stops it from watching definitions.
 */
export async function serveCustomResources(options: CustomResourcesOptions): Promise<Disposable> {
  const builtIn = options.registry.find(GROUP, 'v1', 'customresourcedefinitions');
  if (!builtIn) throw new TypeError('the registry does not contain the built-in resource customresourcedefinitions');
  const resource = withDefinitionRules(builtIn);
  options.registry.set(resource);
  if (options.storage.size(resource.collection) > 0) await loadSchemaEngine();
  const lifecycle = new Lifecycle(options, resource);
  lifecycle.start();
  return lifecycle;
}

/** Lifecycle takes definitions from written to established, and from deleted to removed. */
class Lifecycle implements Disposable {
  readonly #options: CustomResourcesOptions;
  readonly #resource: ApiResource;
  readonly #served: ServedDefinitions;
  readonly #definitions = new Map<string, CustomResourceDefinition>();
  /** Watches for the deletion of the objects of a deleted definition. */
  readonly #objectWatches = new Map<string, Disposable>();
  #watch: Disposable | undefined;
  #isScheduled = false;
  #isStopped = false;

  constructor(options: CustomResourcesOptions, resource: ApiResource) {
    this.#options = options;
    this.#resource = resource;
    this.#served = new ServedDefinitions(options.registry, options.storage);
  }

  start(): void {
    const { storage } = this.#options;
    for (const stored of storage.select(this.#resource.collection)) this.#remember(stored.key, stored);
    this.#watch = storage.watch(this.#resource.collection, ({ key, current }) => {
      this.#remember(key, current);
      this.#schedule();
    });
    this.#reconcile();
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#watch?.[Symbol.dispose]();
    for (const each of this.#objectWatches.values()) each[Symbol.dispose]();
    this.#objectWatches.clear();
  }

  #remember(key: string, stored: Stored | undefined): void {
    const { name } = splitKey(key);
    const definition = stored && definitionOf(objectOf(stored));
    if (definition) this.#definitions.set(name, definition);
    else this.#definitions.delete(name);
    this.#served.set(name, definition);
  }

  /** Deferred: all watchers must see a write before they see the writes that follow from it. */
  #schedule(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#isStopped) return;
      try {
        this.#reconcile();
      } catch (error) {
        this.#options.onError(error);
      }
    });
  }

  /** Every write schedules the next round; a round without remaining work writes nothing. */
  #reconcile(): void {
    for (const [name, definition] of this.#definitions) {
      if (isTerminating(definition)) this.#deleteObjects(name, definition);
      else this.#advance(name, definition);
    }
  }

  #advance(name: string, definition: CustomResourceDefinition): void {
    const others = [...this.#definitions].flatMap(([other, each]) => (other === name ? [] : [each]));
    const status = nextStatus(definition, others, this.#options.clock.now());
    if (!isSameJson(status, definition.status)) this.#writeStatus(name, status);
  }

  #writeStatus(name: string, status: CustomResourceDefinition['status']): void {
    const { storage, fields, clock } = this.#options;
    const { collection } = this.#resource;
    const stored = storage.get(collection, `/${name}`);
    if (!stored) return;
    const object = draftOf(stored);
    object.status = status;
    const writer = { manager: MANAGER, subresource: 'status', now: clock.now() };
    fields.updated(this.#resource, object, draftOf(stored), writer);
    storage.update(collection, stored.key, stored.revision, object);
  }

  /** deleteObjects deletes the objects of a definition, and then the definition itself. */
  #deleteObjects(name: string, definition: CustomResourceDefinition): void {
    const { storage, clock } = this.#options;
    if (!definition.metadata?.finalizers?.includes(CLEANUP)) return;
    if (conditionOf(definition, 'Terminating')?.reason !== 'InstanceDeletionInProgress') {
      const message = 'CustomResource deletion is in progress';
      const condition = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress', message } as const;
      const conditions = withCondition(definition.status?.conditions, condition, clock.now());
      this.#writeStatus(name, { ...definition.status, conditions });
      return;
    }
    const objects = collectionOf(definition);
    for (const stored of [...storage.select(objects)]) deleteStored(storage, objects, stored, clock.now());
    if (storage.size(objects) > 0) {
      if (!this.#objectWatches.has(name))
        this.#objectWatches.set(
          name,
          storage.watch(objects, () => this.#schedule()),
        );
      return;
    }
    this.#objectWatches.get(name)?.[Symbol.dispose]();
    this.#objectWatches.delete(name);
    this.#removeFinalizer(name);
  }

  #removeFinalizer(name: string): void {
    const { storage } = this.#options;
    const { collection } = this.#resource;
    const stored = storage.get(collection, `/${name}`);
    if (!stored) return;
    const object = draftOf(stored);
    const finalizers = object.metadata.finalizers?.filter((finalizer) => finalizer !== CLEANUP) ?? [];
    if (finalizers.length === 0) {
      storage.remove(collection, stored.key, stored.revision, object);
      return;
    }
    object.metadata.finalizers = finalizers;
    storage.update(collection, stored.key, stored.revision, object);
  }
}

/**
 * deleteStored deletes an object as a client would without waiting: controllers that set a finalizer on it do their
 * work first.
 */
function deleteStored(storage: Storage, collection: string, stored: Stored, now: number): void {
  const object = draftOf(stored);
  const { metadata } = object;
  if ((metadata.finalizers ?? []).length === 0) {
    storage.remove(collection, stored.key, stored.revision, object);
  } else if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = formatTime(now);
    metadata.deletionGracePeriodSeconds = 0;
    metadata.generation = (metadata.generation ?? 0) + 1;
    storage.update(collection, stored.key, stored.revision, object);
  }
}
