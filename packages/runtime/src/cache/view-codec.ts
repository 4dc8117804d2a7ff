import { type KubernetesObject, keyOf, type ObjectMeta, type StoredMeta } from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import type {
  MetadataObject,
  MetadataProjectView,
  ProjectView,
  TriggerObject,
  TriggerReads,
  TriggerView,
  View,
} from './view.ts';

/**
 * ViewCodec converts decoded objects to stored entries (`E`), and entries to the values that reads return (`V`). For
 * `full`, `metadata` and `trigger` both are the same value, so that ten thousand objects need no wrappers.
 */
export interface ViewCodec<E, V> {
  readonly name: 'full' | 'metadata' | 'project' | 'project-metadata' | 'trigger';
  /** Whether to request only metadata from the server. */
  readonly metadataOnly: boolean;
  /**
   * encode returns the entry to store for an object, or undefined to store nothing. `owned` means that no other code
   * holds the object, so that it may be stripped in place.
   */
  encode(object: KubernetesObject, owned: boolean): E | undefined;
  value(entry: E): V;
  metadata(entry: E): ObjectMeta;
  /** identify returns the metadata that `encode` would keep, for deleted objects that need no entry. */
  identify(object: KubernetesObject): ObjectMeta;
}

interface Projected {
  readonly value: unknown;
  readonly metadata: ObjectMeta;
}

/** CodecOptions configures a codec. */
export interface CodecOptions {
  /** Whether everything that is kept is deeply frozen. */
  readonly freeze: boolean;
  /** An annotation that projections keep besides their value. */
  readonly pausedAnnotation: string | undefined;
}

/** codecOf returns the codec of a view. */
export function codecOf<V>(view: View<never>, { freeze, pausedAnnotation }: CodecOptions): ViewCodec<unknown, V> {
  // The type of a read depends on view and resource together; ViewOf expresses it where the caller specifies both.
  const codec = plainCodecOf(view, pausedAnnotation) as ViewCodec<unknown, V>;
  if (!freeze) return codec;
  return { ...codec, encode: (object, owned) => deepFreeze(codec.encode(object, owned)) };
}

function plainCodecOf(view: View<never>, pausedAnnotation: string | undefined): ViewCodec<unknown, unknown> {
  if (view === 'full') return fullCodec;
  if (view === 'metadata') return metadataCodec;
  if (view.kind === 'trigger') return triggerCodec(view);
  const identify = identityWith(pausedAnnotation);
  return view.kind === 'project' ? projectCodec(view, identify) : metadataProjectCodec(view, identify);
}

function triggerCodec(view: TriggerView): ViewCodec<TriggerObject, TriggerObject> {
  return {
    name: 'trigger',
    metadataOnly: true,
    encode: (object) => (view.keep(keyOf(object), object.metadata ?? {}, noReads) ? triggerOf(object) : undefined),
    value: (entry) => entry,
    metadata: (entry) => entry.metadata,
    identify: (object) => triggerOf(object).metadata,
  };
}

/** A controller binds a trigger to its own sources; a standalone informer has none. */
const noReads: TriggerReads = { get: refuseRead, list: refuseRead };

function refuseRead(source: string | { readonly id: string }): never {
  throw new BowlineError(
    'BOWLINE_SOURCE_UNDECLARED',
    `cannot read ${typeof source === 'string' ? source : source.id} in a trigger: only a trigger declared by a controller may read the controller's other sources`,
  );
}

function projectCodec(view: ProjectView<never, unknown>, identify: Identify): ViewCodec<Projected, unknown> {
  return {
    name: 'project',
    metadataOnly: false,
    encode(object) {
      // The decoder returns objects of the resource's type; `never` only erases it from the shared View type.
      const value = view.project(object as never);
      return value === undefined ? undefined : { value, metadata: identify(object) };
    },
    value: (entry) => entry.value,
    metadata: (entry) => entry.metadata,
    identify,
  };
}

/**
 * The responses of own writes are whole objects: pass only their metadata to the function, as for all other objects.
 */
function metadataProjectCodec(view: MetadataProjectView<unknown>, identify: Identify): ViewCodec<Projected, unknown> {
  const { encode, ...codec } = projectCodec({ kind: 'project', project: view.project }, identify);
  return {
    ...codec,
    name: view.kind,
    metadataOnly: true,
    encode: (object, owned) => encode(metadataCodec.encode(object, owned) ?? {}, owned),
  };
}

const fullCodec: ViewCodec<KubernetesObject, KubernetesObject> = {
  name: 'full',
  metadataOnly: false,
  encode: (object, owned) => (owned ? stripInPlace(object) : { ...object, metadata: withoutManagedFields(object) }),
  value: (entry) => entry,
  metadata: (entry) => entry.metadata ?? {},
  identify: withoutManagedFields,
};

const metadataCodec: ViewCodec<MetadataObject, MetadataObject> = {
  name: 'metadata',
  metadataOnly: true,
  encode: (object, owned) => ({
    metadata: stored(owned ? (stripInPlace(object).metadata ?? {}) : withoutManagedFields(object)),
  }),
  value: (entry) => entry,
  metadata: (entry) => entry.metadata,
  identify: withoutManagedFields,
};

/** Set to undefined, never deleted: `delete` turns the object into a dictionary, which costs more than it saves. */
function stripInPlace(object: KubernetesObject): KubernetesObject {
  const metadata = object.metadata as { managedFields?: unknown } | undefined;
  if (metadata?.managedFields !== undefined) metadata.managedFields = undefined;
  return object;
}

function withoutManagedFields(object: KubernetesObject): ObjectMeta {
  const metadata = object.metadata ?? {};
  if (metadata.managedFields === undefined) return metadata;
  return { ...metadata, managedFields: undefined };
}

/**
 * identityWith returns the function that extracts the metadata that a projection keeps besides its value: identity,
 * what selectors and owner lookups need, and whether the object is paused, which the runtime needs regardless of the
 * projection.
 */
function identityWith(pausedAnnotation: string | undefined): Identify {
  return (object) => {
    const { name, namespace, uid, resourceVersion, labels, ownerReferences, annotations: all } = object.metadata ?? {};
    const paused = pausedAnnotation === undefined ? undefined : all?.[pausedAnnotation];
    const annotations =
      pausedAnnotation === undefined || paused === undefined ? undefined : { [pausedAnnotation]: paused };
    return { name, namespace, uid, resourceVersion, labels, ownerReferences, annotations };
  };
}

type Identify = (object: KubernetesObject) => ObjectMeta;

function triggerOf(object: KubernetesObject): TriggerObject {
  const { name, namespace, uid, resourceVersion } = object.metadata ?? {};
  return { metadata: stored({ name, namespace, uid, resourceVersion }) };
}

/** The API server gives every stored object a name, a uid and a resourceVersion. */
function stored(metadata: ObjectMeta): StoredMeta {
  return metadata as StoredMeta;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
