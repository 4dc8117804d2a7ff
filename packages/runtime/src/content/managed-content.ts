import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import { type ProjectView, project } from '../cache/view.ts';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import { type Content, contentHash, contentIn, keysIn, type Texts } from './content.ts';
import { newBody } from './content-bodies.ts';
import { formatKeys } from './content-keys.ts';
import { type ContentView, viewReader } from './content-view.ts';
import { formatManagedMetadata, type ManagedMetadata, managedMetadataOf, metadataHash } from './managed-metadata.ts';

/** ContentAnnotations names the annotations in which `ensure` remembers what it wrote. They are API: objects in clusters carry them. */
export interface ContentAnnotations {
  /** The hash of the content as written. A stored content with another hash was changed by another client. */
  readonly hash: string;
  /** When the content was last written, RFC 3339. It changes only together with content. */
  readonly time: string;
  /** The keys that we wrote, and with them those that are ours to remove. Needed to merge by key. */
  readonly keys: string;
  /** The names of the labels and annotations that were asked for with `metadata`. Needed for `metadata`. */
  readonly metadata?: string | undefined;
  /** `"true"` on an object that existed before we wrote it; such an object is never deleted. Needed for `adopt`. */
  readonly adopted?: string | undefined;
  /** Of an adopted object: the value of the label `app.kubernetes.io/managed-by` before, which it gets back. */
  readonly previousManager?: string | undefined;
}

/** MarkFormat is a mark whose value is too large for a cache: `hash` keeps its hash, `nothing` drops it. */
export interface MarkFormat {
  readonly annotation: string;
  readonly keep: 'hash' | 'nothing';
}

/** ContentFormat describes how content under a chosen name is stored: in which maps, and with which labels and annotations. */
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
  /** Hashes content. Objects in clusters carry the result, so that every release must compute the same. Defaults to a SHA-256. */
  readonly hash?: ((content: Content<K>) => string) | undefined;
  /** The values of the label `app.kubernetes.io/managed-by` that mark an object as ours; the first one is written by default. */
  readonly managers: readonly [string, ...string[]];
  readonly annotations: ContentAnnotations;
  /** Further annotations of the operator's own, by a short name. A plain text is the annotation, whose value the view keeps. */
  readonly marks: { readonly [Mark in M]: string | MarkFormat };
  /** Labels with this prefix go when an object is released. Defaults to none. */
  readonly labelPrefix?: string | undefined;
  /** How the content of an object that is taken over is saved: `<name><suffix>`, with its name in a label. Needed for `adopt`. */
  readonly backup?: { readonly suffix: string; readonly label: string } | undefined;
  /** What else the view keeps of an object; never values of its content. Defaults to nothing. */
  readonly more?: ((object: T, view: ContentView<M>) => X) | undefined;
}

/** Marks are values of marks. Null removes the annotation. */
export type ContentMarks<M extends string> = { readonly [Mark in M]?: string | null | undefined };

/** WantedContent is what an object should hold and say. */
export interface WantedContent<K extends string, M extends string> {
  /** Defaults to what the object holds: then only labels and annotations are written, and only of an object that exists. */
  readonly content?: Content<K> | undefined;
  /** The operator's labels besides `app.kubernetes.io/managed-by`. Defaults to none. */
  readonly labels?: Texts | undefined;
  /** The value of the label `app.kubernetes.io/managed-by`. Defaults to the format's first. */
  readonly manager?: string | undefined;
  /** Labels and annotations that a user asks for; taken back when they are no longer asked for. Defaults to none. */
  readonly metadata?: { readonly labels: Texts; readonly annotations: Texts } | undefined;
  /** Marks that are compared: another value is a reason to write. */
  readonly marks: ContentMarks<M>;
  /** Marks that are written along with others and are no reason to write. Defaults to none. */
  readonly quietMarks?: ContentMarks<M> | undefined;
  /** Marks that are written only when the content of a stored object is. Defaults to none. */
  readonly contentMarks?: ContentMarks<M> | undefined;
  /** What becomes of the list of keys on an object of ours: `remove` it, or `leave` it as it is. Defaults to writing it. */
  readonly keys?: 'remove' | 'leave' | undefined;
  /** Make the object immutable. Defaults to leaving it as it is. */
  readonly immutable?: boolean | undefined;
  /** Members of a new object besides metadata and content: `{ type: 'Opaque' }`. Defaults to none. */
  readonly members?: object | undefined;
}

/** DesiredContent is WantedContent with what is computed once for all objects that get it. */
export interface DesiredContent<K extends string, M extends string> extends WantedContent<K, M> {
  readonly labels: Texts;
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
  /** viewOf is what the view keeps of an object. */
  readonly viewOf: (object: T) => ContentView<M> & X;
  /** newObject is the object that `ensure` creates where none exists; `at` is the time, RFC 3339. */
  readonly newObject: (key: ObjectKey, desired: DesiredContent<K, M>, at: string) => T;
  /** desired computes, once, what all objects with some content share. */
  readonly desired: (wanted: WantedContent<K, M>) => DesiredContent<K, M>;
}

/**
 * managedContent declares content that is written under names that users choose. Watch the objects with its `view`, write them with
 * `ctx.ensure` and give them up with `ctx.release`: the view keeps what those need to know, and no values.
 *
 * @example
 * const copies = managedContent({
 *   resource: ConfigMap,
 *   maps: ['data', 'binaryData'],
 *   managers: ['copier'],
 *   annotations: { hash: 'example.dev/hash', time: 'example.dev/written-at', keys: 'example.dev/keys' },
 *   marks: { source: 'example.dev/source' },
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
    // Of the kind of the format: it has the members that were given for it.
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
