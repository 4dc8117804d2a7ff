import { hash } from 'node:crypto';

/** StringMap is a map of strings. */
export type StringMap = Readonly<Record<string, string>>;

/**
 * Content is the content of an object: its maps of strings by name, such as `data` and `binaryData`. A missing map is
 * an empty one.
 */
export type Content<K extends string = string> = { readonly [Map in K]: StringMap };

/** ContentEntry is the value of one key, and the map that holds it. */
export interface ContentEntry<K extends string = string> {
  readonly map: K;
  readonly value: string;
}

/** contentIn returns the content of an object. */
export function contentIn<K extends string>(maps: readonly K[], object: object): Content<K> {
  const members = object as { readonly [map: string]: StringMap | undefined };
  const content: { [map: string]: StringMap } = {};
  for (const map of maps) content[map] = members[map] ?? {};
  return content as Content<K>;
}

/** keysIn returns the keys of content. */
export function keysIn(content: Content): string[] {
  const keys: string[] = [];
  for (const texts of Object.values(content)) keys.push(...Object.keys(texts));
  return keys;
}

/** entriesIn returns content by key. The API server rejects a key in two maps. */
export function entriesIn<K extends string>(content: Content<K>): Map<string, ContentEntry<K>> {
  const entries = new Map<string, ContentEntry<K>>();
  for (const map of Object.keys(content) as K[]) {
    for (const [key, value] of Object.entries(content[map])) entries.set(key, { map, value });
  }
  return entries;
}

/** contentFrom reverses `entriesIn`. `__proto__` is a valid key, so nothing here assigns to members by name. */
export function contentFrom<K extends string>(
  maps: readonly K[],
  entries: Iterable<readonly [key: string, entry: ContentEntry<K>]>,
): Content<K> {
  const all = [...entries];
  const of = (map: K): StringMap =>
    Object.fromEntries(all.filter(([, entry]) => entry.map === map).map(([key, { value }]) => [key, value]));
  return Object.fromEntries(maps.map((map) => [map, of(map)])) as Content<K>;
}

/** losesContent reports whether a value of `before` is missing or different in `after`. */
export function losesContent<K extends string>(before: Content<K>, after: Content<K>): boolean {
  const next = entriesIn(after);
  return [...entriesIn(before)].some(([key, entry]) => !isSameEntry(entry, next.get(key)));
}

/** isSameEntry reports whether two entries hold the same value in the same map. */
export function isSameEntry(a: ContentEntry | undefined, b: ContentEntry | undefined): boolean {
  return a?.map === b?.map && a?.value === b?.value;
}

/**
 * contentHash returns the hex SHA-256 of content, independent of the order of its keys. Objects in clusters carry it:
 * it must never change.
 */
export function contentHash(content: Content): string {
  const maps = Object.entries(content).filter(([, texts]) => !isEmpty(texts));
  const sorted = maps.sort(byName).map(([map, texts]) => [map, Object.entries(texts).sort(byName)]);
  return hash('sha256', JSON.stringify(sorted), 'hex');
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** isEmpty reports whether a map has no keys. */
export function isEmpty(texts: StringMap): boolean {
  for (const _ in texts) return false;
  return true;
}
