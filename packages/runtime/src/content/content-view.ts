import { hash as hashOf } from 'node:crypto';
import type { KubernetesObject, ObjectMeta } from '@bowline/kubernetes';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import { type Content, contentFrom, contentIn, entriesIn, isEmpty, keysIn, type StringMap } from './content.ts';
import { formatKeys, parseKeys } from './content-keys.ts';
import type { ContentFormat, ManagedContent, OperatorAnnotationFormat } from './managed-content.ts';
import { type ManagedMetadata, metadataHash, parseManagedMetadata } from './managed-metadata.ts';

/**
 * ContentView is the part of an object with managed content that a cache keeps: enough to plan a write, and none of its
 * values.
 */
export interface ContentView<M extends string = string> {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  readonly isImmutable: boolean;
  /** Whether the label `app.kubernetes.io/managed-by` has a value of ours. */
  readonly isOurs: boolean;
  readonly labels: StringMap;
  /** The controller of the object by owner reference, as `Kind name`. */
  readonly controller: string | undefined;
  /** The maps that are not empty. */
  readonly filledMaps: readonly string[];
  /** The hash of all content. */
  readonly hash: string;
  /**
   * The hash of the keys that we wrote. Without a list of keys these are all keys of an object of ours, and none of any
   * other object.
   */
  readonly managedHash: string;
  /** The hash of the content that we wrote last. */
  readonly appliedHash: string | undefined;
  /** When that was, RFC 3339; also undefined for a text that is not a time. */
  readonly writtenAt: string | undefined;
  /** Whether the object existed before we wrote it. */
  readonly isAdopted: boolean;
  readonly previousManager: string | undefined;
  /** The annotations of the operator that the format keeps; for a large one, its hash. */
  readonly operatorAnnotations: { readonly [Name in M]: string | undefined };
  readonly managedMetadata: ManagedMetadata;
  /** The hash of the values of `managedMetadata`. */
  readonly metadataHash: string;
}

type Format<T extends KubernetesObject, K extends string, M extends string, X extends object> = ContentFormat<
  T,
  string,
  K,
  M,
  X
> &
  Pick<ManagedContent<T, string, K, M, X>, 'hash'>;

/** viewReader returns the function that creates the view of an object. */
export function viewReader<T extends KubernetesObject, K extends string, M extends string, X extends object>(
  format: Format<T, K, M, X>,
): (object: T) => ContentView<M> & X {
  const { maps, managers, annotations: names, more } = format;
  const operatorAnnotations = Object.entries<string | OperatorAnnotationFormat>(format.operatorAnnotations).map(
    ([name, each]) => (typeof each === 'string' ? { name, annotation: each, keep: 'value' } : { name, ...each }),
  );
  const readOperatorAnnotations = (annotations: StringMap): ContentView<M>['operatorAnnotations'] => {
    const values: { [name: string]: string | undefined } = {};
    for (const { name, annotation, keep } of operatorAnnotations) {
      const value = annotations[annotation];
      values[name] = keep === 'value' ? value : keep === 'hash' ? annotationHash(value) : undefined;
    }
    // The names are those of the format.
    return values as ContentView<M>['operatorAnnotations'];
  };
  return (object) => {
    const { metadata = {} } = object;
    const { namespace = '', name = '', uid = '', resourceVersion = '', labels = {}, annotations = {} } = metadata;
    const content = contentIn(maps, object);
    const isOurs = managers.includes(labels[MANAGED_BY] ?? '');
    const managedMetadata = parseManagedMetadata(names.metadata && annotations[names.metadata]);
    const { hash, managedHash } = hashesOf(format, content, { listed: annotations[names.keys], isOurs });
    // No spreading: every object built that way gets its own hidden class in V8, which takes more memory than the view.
    const view: ContentView<M> = {
      namespace,
      name,
      uid,
      resourceVersion,
      isTerminating: metadata.deletionTimestamp !== undefined,
      isImmutable: (object as { readonly immutable?: boolean }).immutable === true,
      isOurs,
      labels,
      controller: controllerOf(metadata),
      filledMaps: filledMapsOf(content),
      hash,
      managedHash,
      appliedHash: annotations[names.hash],
      writtenAt: timeOf(annotations[names.time]),
      isAdopted: names.adopted !== undefined && annotations[names.adopted] === 'true',
      previousManager: names.previousManager && annotations[names.previousManager],
      operatorAnnotations: readOperatorAnnotations(annotations),
      managedMetadata,
      metadataHash: metadataHash(managedMetadata, metadata),
    };
    // Without `more`, X adds nothing.
    return more ? Object.assign(view, more(object, view)) : (view as ContentView<M> & X);
  };
}

/** annotationHash returns what a view keeps of a large annotation. */
export function annotationHash(value: string | undefined): string | undefined {
  return value === undefined ? undefined : hashOf('sha256', value, 'base64');
}

function hashesOf<K extends string, M extends string>(
  { maps, hash }: Pick<ManagedContent<never, string, K, M>, 'maps' | 'hash'>,
  content: Content<K>,
  { listed, isOurs }: { readonly listed: string | undefined; readonly isOurs: boolean },
): Pick<ContentView, 'hash' | 'managedHash'> {
  const whole = hash(content);
  if (listed === undefined) return { hash: whole, managedHash: isOurs ? whole : hash(contentFrom(maps, [])) };
  // In most objects every key is ours, and no second hash has to be computed.
  if (listed === formatKeys(keysIn(content))) return { hash: whole, managedHash: whole };
  const ours = parseKeys(listed);
  const managed = [...entriesIn(content)].filter(([key]) => ours?.has(key));
  return { hash: whole, managedHash: hash(contentFrom(maps, managed)) };
}

/** One list per combination of maps is shared: a cache holds thousands of views. */
const filled = new Map<string, readonly string[]>();

function filledMapsOf(content: Content): readonly string[] {
  let id = '';
  for (const map of Object.keys(content)) if (!isEmpty(content[map] ?? {})) id += `${map} `;
  let list = filled.get(id);
  if (!list) {
    list = Object.freeze(id.trim() === '' ? [] : id.trim().split(' '));
    filled.set(id, list);
  }
  return list;
}

/** Any client may have written any text, and a status field of type time accepts times only. */
function timeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? text : undefined;
}

function controllerOf({ ownerReferences }: ObjectMeta): string | undefined {
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  return owner && `${owner.kind} ${owner.name}`;
}
