import type {
  KubernetesObject,
  ObjectKey,
  ObjectMeta,
  ObjectOf,
  Resource,
  Stored,
  StoredMeta,
} from '@bowline/kubernetes';

/** MetadataObject is an object without spec, status or data: what the `metadata` view keeps. */
export interface MetadataObject {
  readonly metadata: StoredMeta;
}

/** TriggerObject is what the `trigger` view keeps: enough to know that something changed. */
export interface TriggerObject {
  readonly metadata: Pick<StoredMeta, 'name' | 'namespace' | 'uid' | 'resourceVersion'>;
}

/** ProjectView keeps what a function makes of each object; see `project`. */
export interface ProjectView<T, P> {
  readonly kind: 'project';
  readonly project: (object: T) => P;
}

/** MetadataProjectView keeps what a function makes of the metadata of each object; see `projectMetadata`. */
export interface MetadataProjectView<P> {
  readonly kind: 'project-metadata';
  readonly project: (object: MetadataObject) => P;
}

/** TriggerReads reads the other sources of the controller that a trigger belongs to, by kind or by name. */
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

/** TriggerView keeps identity and version of the keys that matter; see `trigger`. */
export interface TriggerView {
  readonly kind: 'trigger';
  readonly keep: (key: ObjectKey, metadata: ObjectMeta, cache: TriggerReads) => boolean;
}

/**
 * View says what of each object a cache keeps:
 * - `full`: everything but managedFields;
 * - `metadata`: metadata only, and only that crosses the network;
 * - `project(fn)`: what the function returns, made when the object is decoded;
 * - `projectMetadata(fn)`: the same, made of metadata alone, and only that crosses the network;
 * - `trigger(keep)`: uid and resourceVersion of the keys that `keep` accepts.
 */
export type View<T extends KubernetesObject = KubernetesObject> =
  | 'full'
  | 'metadata'
  | ProjectView<T, unknown>
  | MetadataProjectView<unknown>
  | TriggerView;

/** ViewOf is the static type of a read through a view: a field that the view drops does not compile. */
export type ViewOf<R extends Resource, V> = V extends 'full'
  ? Stored<ObjectOf<R>>
  : V extends 'metadata'
    ? MetadataObject
    : V extends ProjectView<never, infer P> | MetadataProjectView<infer P>
      ? // What a projection is undefined of is not kept, so no read returns that.
        Exclude<P, undefined>
      : V extends TriggerView
        ? TriggerObject
        : never;

const projections = new WeakMap<object, ProjectView<never, unknown>>();
const metadataProjections = new WeakMap<object, MetadataProjectView<unknown>>();
const triggers = new WeakMap<object, TriggerView>();

/**
 * project is the view that keeps what `fn` returns. The same function gives the same view, so two watchers that name one
 * function share an informer. `fn` must be pure and must return a fresh value: what it references of the object stays in
 * memory, and what it returns `undefined` for is not kept at all.
 *
 * ```ts
 * const phases = project((pod: Pod) => ({ node: pod.spec?.nodeName, phase: pod.status?.phase }));
 * ```
 */
export function project<T extends KubernetesObject, P>(fn: (object: T) => P): ProjectView<T, P> {
  const known = projections.get(fn);
  // The map's key is the function the view was made from, so its types are those of this call.
  if (known) return known as ProjectView<T, P>;
  const view: ProjectView<T, P> = Object.freeze({ kind: 'project', project: fn });
  projections.set(fn, view);
  return view;
}

/**
 * projectMetadata is `project` for what metadata alone tells: the server is asked for nothing else, which of large objects such as
 * Pods saves most of what would cross the network and be decoded. The same rules hold for `fn`.
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
 * trigger is the view of kinds that only cause work: it keeps uid and resourceVersion of the keys that `keep` accepts and
 * drops everything else. `keep` is asked for every event, so what it accepts may change over time, and it may read the other
 * sources of its controller; a key it rejects causes no event, except that one it accepted before is deleted from the view.
 * The end of an object that it accepts is told also when the object was never stored, because it was rejected before.
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
