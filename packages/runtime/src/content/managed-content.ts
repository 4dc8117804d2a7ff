import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { type ProjectView, project } from '../cache/view.ts';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import { type Content, contentHash, contentIn, keysIn, type StringMap } from './content.ts';
import { newBody } from './content-bodies.ts';
import { formatKeys } from './content-keys.ts';
import { type ContentView, viewReader } from './content-view.ts';
import { formatManagedMetadata, type ManagedMetadata, managedMetadataOf, metadataHash } from './managed-metadata.ts';

/**
 * ContentAnnotations names the annotations in which `ensure` records what it wrote. They are API: objects in clusters
 * carry them.
 */
export interface ContentAnnotations {
  /** The hash of the content as written. Stored content with another hash was changed by another client. */
  readonly hash: string;
  /** When the content was last written, RFC 3339. It changes only together with content. */
  readonly time: string;
  /** The keys that we wrote, and so may remove. Required to merge by key. */
  readonly keys: string;
  /** The names of the labels and annotations that were requested with `metadata`. Required for `metadata`. */
  readonly metadata?: string | undefined;
  /** `"true"` on an object that existed before we wrote it; such an object is never deleted. Required for `adopt`. */
  readonly adopted?: string | undefined;
  /**
   * On an adopted object: the previous value of the label `app.kubernetes.io/managed-by`, which is restored on release.
   */
  readonly previousManager?: string | undefined;
}

/**
 * OperatorAnnotationFormat describes an annotation whose value is too large for a cache: `hash` keeps its hash,
 * `nothing` drops it.
 */
export interface OperatorAnnotationFormat {
  readonly annotation: string;
  readonly keep: 'hash' | 'nothing';
}

/**
 * ContentFormat describes how content under a chosen name is stored: in which maps, and with which labels and
 * annotations.
 */
export interface ContentFormat<
  T extends KubernetesObject,
  Id extends string,
  K extends string,
  M extends string,
  X extends object = object,
> {
  readonly resource: Resource<T, Id>;
  /** The maps of strings that hold the content: `['data']`. */
  readonly maps: readonly K[];
  /**
   * Hashes content. Objects in clusters carry the result, so every release must compute the same hash. Defaults to a
   * SHA-256.
   */
  readonly hash?: ((content: Content<K>) => string) | undefined;
  /**
   * The values of the label `app.kubernetes.io/managed-by` that mark an object as ours; the first one is written by
   * default.
   */
  readonly managers: readonly [string, ...string[]];
  readonly annotations: ContentAnnotations;
  /**
   * Further annotations of the operator, by a short name. A plain string is the annotation, whose value the view keeps.
   */
  readonly operatorAnnotations: { readonly [Name in M]: string | OperatorAnnotationFormat };
  /** Labels with this prefix are removed when an object is released. Defaults to none. */
  readonly labelPrefix?: string | undefined;
  /**
   * How the content of an adopted object is saved: as `<name><suffix>`, with its name in a label. Required for `adopt`.
   */
  readonly backup?: { readonly suffix: string; readonly label: string } | undefined;
  /** Returns what else the view keeps of an object; never values of its content. Defaults to nothing. */
  readonly more?: ((object: T, view: ContentView<M>) => X) | undefined;
}

/** OperatorAnnotations holds values of the operator's annotations by short name. Null removes the annotation. */
export type OperatorAnnotations<M extends string> = { readonly [Name in M]?: string | null | undefined };

/** WantedContent is the desired content, labels and annotations of an object. */
export interface WantedContent<K extends string, M extends string> {
  /** Defaults to the current content: then only labels and annotations are written, and only if the object exists. */
  readonly content?: Content<K> | undefined;
  /** The operator's labels besides `app.kubernetes.io/managed-by`. Defaults to none. */
  readonly labels?: StringMap | undefined;
  /** The value of the label `app.kubernetes.io/managed-by`. Defaults to the format's first. */
  readonly manager?: string | undefined;
  /** Labels and annotations that a user requests; removed when they are no longer requested. Defaults to none. */
  readonly metadata?: { readonly labels: StringMap; readonly annotations: StringMap } | undefined;
  /** Annotations that are compared: a different value causes a write. */
  readonly operatorAnnotations: OperatorAnnotations<M>;
  /** Annotations that are written along with others but do not cause a write. Defaults to none. */
  readonly passiveAnnotations?: OperatorAnnotations<M> | undefined;
  /** Annotations that are written only together with the content of a stored object. Defaults to none. */
  readonly annotationsWithContent?: OperatorAnnotations<M> | undefined;
  /**
   * What happens to the list of keys on an object of ours: `remove` it, or `leave` it as it is. Defaults to writing it.
   */
  readonly keys?: 'remove' | 'leave' | undefined;
  /** Make the object immutable. Defaults to leaving it as it is. */
  readonly immutable?: boolean | undefined;
  /** Members of a new object besides metadata and content: `{ type: 'Opaque' }`. Defaults to none. */
  readonly members?: object | undefined;
}

/** DesiredContent is WantedContent with the values that are computed once for all objects that get it. */
export interface DesiredContent<K extends string, M extends string> extends WantedContent<K, M> {
  readonly labels: StringMap;
  /** Undefined without content. */
  readonly hash: string | undefined;
  /** The list of keys; undefined when it is too long for an annotation. */
  readonly keyList: string | undefined;
  readonly managedMetadata: ManagedMetadata;
  readonly metadataNames: string | undefined;
  readonly metadataHash: string;
}

/** ManagedContent is a format with its cache view. */
export interface ManagedContent<
  T extends KubernetesObject,
  Id extends string,
  K extends string,
  M extends string,
  X extends object = object,
> extends ContentFormat<T, Id, K, M, X> {
  readonly hash: (content: Content<K>) => string;
  /** The view to watch the objects with: metadata and hashes, no values. */
  readonly view: ProjectView<T, ContentView<M> & X>;
  /** viewOf returns the view of an object. */
  readonly viewOf: (object: T) => ContentView<M> & X;
  /** newObject returns the object that `ensure` creates if none exists; `at` is the time, RFC 3339. */
  readonly newObject: (key: ObjectKey, desired: DesiredContent<K, M>, at: string) => T;
  /** desired computes, once, what all objects with the same content share. */
  readonly desired: (wanted: WantedContent<K, M>) => DesiredContent<K, M>;
}

/**
 * managedContent declares content that is written under names that users choose. Watch the objects with its `view`,
 * write them with `ctx.ensure` and give them up with `ctx.release`: the view keeps what these functions need, and no
 * values.
 *
 * @example
 * const copies = managedContent({
 *   resource: ConfigMap,
 *   maps: ['data', 'binaryData'],
 *   managers: ['copier'],
 *   annotations: { hash: 'example.dev/hash', time: 'example.dev/written-at', keys: 'example.dev/keys' },
 *   operatorAnnotations: { source: 'example.dev/source' },
 * });
 */
export function managedContent<
  T extends KubernetesObject,
  Id extends string,
  K extends string,
  M extends string,
  X extends object = object,
>(format: ContentFormat<T, Id, K, M, X>): ManagedContent<T, Id, K, M, X> {
  const whole = { ...format, hash: format.hash ?? contentHash };
  const viewOf = viewReader(whole);
  const desired = (wanted: WantedContent<K, M>): DesiredContent<K, M> => desiredOf(whole, wanted);
  const newObject = (
    key: ObjectKey,
    { content, hash = '', keyList, ...others }: DesiredContent<K, M>,
    at: string,
  ): T => {
    const applied = { content: content ?? contentIn(format.maps, {}), hash, keyList };
    // An object of the kind of the format: it has the members that were passed for it.
    return newBody(whole, key, { ...others, content, hash, keyList }, applied, { at }) as T;
  };
  return Object.freeze({ ...whole, viewOf, view: project(viewOf), desired, newObject });
}

function desiredOf<K extends string, M extends string>(
  format: Pick<ManagedContent<never, string, K, M>, 'hash' | 'managers'>,
  wanted: WantedContent<K, M>,
): DesiredContent<K, M> {
  const { content, metadata = { labels: {}, annotations: {} }, manager = format.managers[0] } = wanted;
  const managedMetadata = managedMetadataOf(metadata);
  return {
    ...wanted,
    labels: { ...metadata.labels, [MANAGED_BY]: manager, ...wanted.labels },
    hash: content && format.hash(content),
    keyList: content && wanted.keys === undefined ? formatKeys(keysIn(content)) : undefined,
    managedMetadata,
    metadataNames: formatManagedMetadata(managedMetadata),
    metadataHash: metadataHash(managedMetadata, metadata),
  };
}
