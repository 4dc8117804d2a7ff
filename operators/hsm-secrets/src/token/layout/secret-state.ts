import type { DataObject } from '../token.ts';
import { DEFAULT_KEY, parseLabel, valueLabel } from './label.ts';
import { compareRecords, EMPTY_METADATA, type MetadataRecord } from './metadata-record.ts';
import type { MetadataObject, TokenObjects, ValueObject } from './token-objects.ts';

// The layout.
//
// A secret consists of one object per value, with the label `<path>/<key>`, and a metadata object `<path>/_metadata`
// whose manifest holds the SHA-256 of every value. Objects are never modified. A write creates the new values and the
// new metadata beside the old ones and then destroys the old ones, so at any moment some version has all its values:
// the newest such version is the content. All other objects of the path are leftovers of interrupted writes.
//
// The older system writes no manifest: there, all values under the path are the content, and the value of the key
// `data` has the path itself as its label. So the label `a/b` is ambiguous: key `b` of `a`, or key `data` of `a/b`.
// - A manifest of `a` that contains key `b` with the hash of the object decides for `a`.
// - Else `a/b` has it if it has metadata without a manifest. (The older system destroys everything whose label starts
//   with the path that it writes: both can exist only if `a/b` was written after `a`.)
// - Else `a` has it, as in the lists of the older system.
// - If neither has metadata, reading `a/b` returns it too: nothing shows which one its writer meant. The first write to
//   either path takes it over.
// A secret with a manifest never uses its path as a label. Hence writes first migrate a secret of the older layout
// before they create an object whose label could be taken for its `data`.

/** SecretContent is the current version of a secret, or a tombstone. */
export interface SecretContent {
  readonly record: MetadataRecord;
  readonly values: ReadonlyMap<string, ValueObject>;
  /** The metadata object; undefined if the secret has no readable metadata. */
  readonly source: DataObject | undefined;
}

/** SecretState describes all objects of a path. */
export interface SecretState {
  readonly path: string;
  /** The objects that this was derived from. */
  readonly objects: TokenObjects;
  /** Undefined if there is neither a secret nor a tombstone. */
  readonly content: SecretContent | undefined;
  /**
   * The objects that the content does not need, in the order in which they can be destroyed without changing it: an
   * incomplete version becomes visible as a secret of the older layout if its metadata is destroyed before its values.
   */
  readonly leftovers: readonly DataObject[];
  /** Whether metadata exists but no version has all its values. */
  readonly isDamaged: boolean;
  /** The highest version of any metadata, complete or not. */
  readonly highestVersion: number;
}

/** stateOf returns the state of a path. */
export function stateOf(objects: TokenObjects, path: string): SecretState {
  const metadata = objects.metadataOf(path);
  const records = metadata.flatMap(({ object, record }) => (record === undefined ? [] : [{ object, record }]));
  const newestFirst = records.sort((a, b) => compareRecords(b.record, a.record));
  const highestVersion = newestFirst[0]?.record.version ?? 0;
  const manifests = newestFirst.filter(({ record }) => record.manifest !== undefined);
  const content =
    manifests.length > 0 ? firstComplete(objects, path, manifests) : olderContent(objects, path, newestFirst[0]);
  const isDamaged = manifests.length > 0 && content === undefined;
  const leftovers = leftoversOf(objects, path, content);
  return { path, objects, content, leftovers, isDamaged, highestVersion };
}

type Readable = MetadataObject & { readonly record: MetadataRecord };

function firstComplete(objects: TokenObjects, path: string, manifests: readonly Readable[]): SecretContent | undefined {
  for (const { object, record } of manifests) {
    const values = valuesOfManifest(objects, path, record.manifest ?? new Map());
    if (values !== undefined) return { record, values, source: object };
  }
  return undefined;
}

function valuesOfManifest(
  objects: TokenObjects,
  path: string,
  manifest: ReadonlyMap<string, string>,
): ReadonlyMap<string, ValueObject> | undefined {
  const values = new Map<string, ValueObject>();
  for (const [key, hash] of manifest) {
    const value = objects.valuesOf(path, key).find((each) => each.hash === hash);
    if (value === undefined) return undefined;
    values.set(key, value);
  }
  return values;
}

function olderContent(objects: TokenObjects, path: string, newest: Readable | undefined): SecretContent | undefined {
  const { record = EMPTY_METADATA, object: source } = newest ?? {};
  if (record.isDeleted) return { record, values: new Map(), source };
  const values = new Map<string, ValueObject>();
  for (const key of ownKeysBelow(objects, path)) {
    const [value] = [...objects.valuesOf(path, key)].sort((a, b) => (a.hash < b.hash ? -1 : 1));
    if (value !== undefined) values.set(key, value);
  }
  const [value] = defaultValuesOf(objects, path);
  if (value !== undefined) values.set(DEFAULT_KEY, value);
  return values.size > 0 ? { record, values, source } : undefined;
}

/** A secret of the older layout is migrated before it is changed; until then all its objects are needed. */
function leftoversOf(objects: TokenObjects, path: string, content: SecretContent | undefined): DataObject[] {
  if (content !== undefined && isOlderContent(content)) return [];
  const used = new Set([...(content?.values.values() ?? [])].map(({ object }) => object));
  const values = ownKeysBelow(objects, path)
    .flatMap((key) => objects.at(valueLabel(path, key)))
    .concat(defaultValuesOf(objects, path).map(({ object }) => object))
    .filter((object) => !used.has(object));
  const metadata = objects.metadataOf(path).map(({ object }) => object);
  return [...values, ...metadata.filter((object) => object !== content?.source)];
}

/** isOlderContent reports whether this is a secret (not a tombstone) of the older layout. */
export function isOlderContent({ record }: SecretContent): boolean {
  return record.manifest === undefined && !record.isDeleted;
}

/** isOlderPath reports whether a path has metadata, none of it with a manifest. */
export function isOlderPath(objects: TokenObjects, path: string): boolean {
  const metadata = objects.metadataOf(path);
  return metadata.length > 0 && metadata.every(({ record }) => record?.manifest === undefined);
}

/** The keys whose labels belong to a path, and not to a secret of the older layout below it. */
function ownKeysBelow(objects: TokenObjects, path: string): string[] {
  return objects.keysBelow(path).filter((key) => !isOlderPath(objects, valueLabel(path, key)));
}

/** defaultValuesOf returns the objects that have the path as their label and belong to it, as its key `data`. */
export function defaultValuesOf(objects: TokenObjects, path: string): readonly ValueObject[] {
  if (objects.at(path).length === 0) return [];
  const above = parseLabel(path)?.entry;
  const metadataAbove = above === undefined ? [] : objects.metadataOf(above.path);
  if (objects.metadataOf(path).length === 0) return metadataAbove.length === 0 ? objects.valuesAt(path) : [];
  if (!isOlderPath(objects, path)) return [];
  const claimed = metadataAbove.map(({ record }) => record?.manifest?.get(above?.key ?? ''));
  return objects.valuesAt(path).filter(({ hash }) => !claimed.includes(hash));
}

/** pathsOf returns the paths of all secrets and tombstones that may exist, sorted. */
export function pathsOf(objects: TokenObjects): string[] {
  const paths = new Set<string>();
  for (const label of objects.labels) {
    const { metadataPath, entry, defaultPath } = parseLabel(label) ?? {};
    const path = metadataPath ?? entry?.path ?? defaultPath;
    if (path !== undefined) paths.add(path);
  }
  return [...paths].sort();
}
