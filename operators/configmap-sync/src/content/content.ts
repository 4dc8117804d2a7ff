import type { ConfigMap } from '@bowline/kubernetes';

/** Content is the content of a ConfigMap. A missing map is an empty one: the API server does not distinguish them. */
export interface Content {
  readonly data: Readonly<Record<string, string>>;
  /** Base64, as stored. */
  readonly binaryData: Readonly<Record<string, string>>;
}

/** contentOf returns the content of a ConfigMap. */
export function contentOf(configMap: Pick<ConfigMap, 'data' | 'binaryData'>): Content {
  return { data: configMap.data ?? {}, binaryData: configMap.binaryData ?? {} };
}

/** Entry is the value of one key, and which of the two maps it is in. */
export interface Entry {
  readonly type: 'd' | 'b';
  readonly value: string;
}

/** entriesOf returns content by key. A key is in only one of the two maps. */
export function entriesOf(content: Content): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [key, value] of Object.entries(content.data)) entries.set(key, { type: 'd', value });
  for (const [key, value] of Object.entries(content.binaryData)) entries.set(key, { type: 'b', value });
  return entries;
}

/** contentFrom reverses `entriesOf`. `__proto__` is a valid key, so no code here assigns members by name. */
export function contentFrom(entries: Iterable<readonly [key: string, entry: Entry]>): Content {
  const all = [...entries];
  const ofType = (type: Entry['type']): Record<string, string> =>
    Object.fromEntries(all.filter(([, entry]) => entry.type === type).map(([key, { value }]) => [key, value]));
  return { data: ofType('d'), binaryData: ofType('b') };
}
