import type { ConfigMap } from '@bowline/kubernetes';

/** Content is what a ConfigMap holds. Absent maps are empty ones: the API server makes no difference between them. */
export interface Content {
  readonly data: Readonly<Record<string, string>>;
  /** Base64, as stored. */
  readonly binaryData: Readonly<Record<string, string>>;
}

/** contentOf is the content of a ConfigMap. */
export function contentOf(configMap: Pick<ConfigMap, 'data' | 'binaryData'>): Content {
  return { data: configMap.data ?? {}, binaryData: configMap.binaryData ?? {} };
}

/** Entry is one key's value, and which of the two maps it is in. */
export interface Entry {
  readonly type: 'd' | 'b';
  readonly value: string;
}

/** entriesOf is content by key. A key is in one of the two maps only. */
export function entriesOf(content: Content): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [key, value] of Object.entries(content.data)) entries.set(key, { type: 'd', value });
  for (const [key, value] of Object.entries(content.binaryData)) entries.set(key, { type: 'b', value });
  return entries;
}

/** contentFrom reverses `entriesOf`. `__proto__` is a valid key, so that nothing here assigns to members by name. */
export function contentFrom(entries: Iterable<readonly [key: string, entry: Entry]>): Content {
  const all = [...entries];
  const ofType = (type: Entry['type']): Record<string, string> =>
    Object.fromEntries(all.filter(([, entry]) => entry.type === type).map(([key, { value }]) => [key, value]));
  return { data: ofType('d'), binaryData: ofType('b') };
}
