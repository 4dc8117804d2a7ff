import type {
  KubernetesObject,
  ObjectKey,
  ObjectMeta,
  ObjectOf,
  Resource,
  Stored,
  StoredMeta,
} from '@bowline/kubernetes';

/** MetadataObject is an object without spec, status or data, as kept by the `metadata` view. */
export interface MetadataObject {
  readonly metadata: StoredMeta;
}

/** TriggerObject is what the `trigger` view keeps: enough to know that something changed. */
export interface TriggerObject {
  readonly metadata: Pick<StoredMeta, 'name' | 'namespace' | 'uid' | 'resourceVersion'>;
}

/** ProjectView keeps what a function returns for each object; see `project`. */
export interface ProjectView<T, P> {
  readonly kind: 'project';
  readonly project: (object: T) => P;
}

/** MetadataProjectView keeps what a function returns for the metadata of each object; see `projectMetadata`. */
export interface MetadataProjectView<P> {
  readonly kind: 'project-metadata';
  readonly project: (object: MetadataObject) => P;
}

/** TriggerReads reads the other sources of the trigger's controller, by kind or by name. */
export interface TriggerReads {
  get(source: string | Resource, key: ObjectKey): unknown;
  list(
    source: string | Resource,
    options?: {
      readonly namespace?: string | undefined;
      readonly by?: { readonly [index: string]: string } | undefined;
    },
  ): readonly unknown[];
}

/** TriggerView keeps uid and resourceVersion of accepted keys; see `trigger`. */
export interface TriggerView {
  readonly kind: 'trigger';
  readonly keep: (key: ObjectKey, metadata: ObjectMeta, cache: TriggerReads) => boolean;
}

/**
 * View configures what a cache keeps of each object:
 * - `full`: everything but managedFields;
 * - `metadata`: metadata only, and only metadata is transferred;
 * - `project(fn)`: what the function returns, computed when the object is decoded;
 * - `projectMetadata(fn)`: the same, computed from metadata alone, and only metadata is transferred;
 * - `trigger(keep)`: uid and resourceVersion of the keys that `keep` accepts.
 */
export type View<T extends KubernetesObject = KubernetesObject> =
  | 'full'
  | 'metadata'
  | ProjectView<T, unknown>
  | MetadataProjectView<unknown>
  | TriggerView;

/** ViewOf is the static type of a read through a view: accessing a field that the view drops does not compile. */
export type ViewOf<R extends Resource, V> = V extends 'full'
  ? Stored<ObjectOf<R>>
  : V extends 'metadata'
    ? MetadataObject
    : V extends ProjectView<never, infer P> | MetadataProjectView<infer P>
      ? // An object for which a projection returns undefined is not kept, so no read returns undefined.
        Exclude<P, undefined>
      : V extends TriggerView
        ? TriggerObject
        : never;

const projections = new WeakMap<object, ProjectView<never, unknown>>();
const metadataProjections = new WeakMap<object, MetadataProjectView<unknown>>();
const triggers = new WeakMap<object, TriggerView>();

/**
 * project returns a view that keeps what `fn` returns. The same function always returns the same view, so that two
 * watchers with the same function share an informer. `fn` must be pure and must return a new value: anything it
 * references from the object stays in memory. An object for which it returns `undefined` is not stored.
 *
 * ```ts
 * const phases = project((pod: Pod) => ({ node: pod.spec?.nodeName, phase: pod.status?.phase }));
 * ```
 */
export function project<T extends KubernetesObject, P>(fn: (object: T) => P): ProjectView<T, P> {
  const known = projections.get(fn);
  // The map's key is the function the view was created from, so its types are those of this call.
  if (known) return known as ProjectView<T, P>;
  const view: ProjectView<T, P> = Object.freeze({ kind: 'project', project: fn });
  projections.set(fn, view);
  return view;
}

/**
 * projectMetadata is `project` for metadata alone: only metadata is requested from the server, which saves most of the
 * transfer and decoding of large objects such as Pods. The same rules apply to `fn`.
 *
 * ```ts
 * const asked = projectMetadata(({ metadata }) => metadata.annotations?.['example.dev/asks']);
 * ```
 */
export function projectMetadata<P>(fn: (object: MetadataObject) => P): MetadataProjectView<P> {
  const known = metadataProjections.get(fn);
  // As in `project`.
  if (known) return known as MetadataProjectView<P>;
  const view: MetadataProjectView<P> = Object.freeze({ kind: 'project-metadata', project: fn });
  metadataProjections.set(fn, view);
  return view;
}

/**
 * trigger returns a view for kinds that only cause work: it keeps uid and resourceVersion of the keys that `keep`
 * accepts and drops everything else. `keep` is called for every event, so its result may change over time, and it may
 * read the other sources of its controller. A rejected key causes no event, except that a previously accepted key is
 * deleted from the view. The deletion of an accepted object is reported even if the object was never stored because it
 * was rejected before.
 *
 * ```ts
 * const sources = trigger((key, _, cache) => cache.list(Copy, { by: { source: keyString(key) } }).length > 0);
 * ```
 */
export function trigger(keep: TriggerView['keep']): TriggerView {
  const known = triggers.get(keep);
  if (known) return known;
  const view: TriggerView = Object.freeze({ kind: 'trigger', keep });
  triggers.set(keep, view);
  return view;
}
