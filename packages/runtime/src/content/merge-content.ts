import { type Content, contentFrom, entriesIn, isSameEntry } from './content.ts';

/** MergeOptions configures which keys are ours. */
export interface MergeOptions {
  /** The keys that we wrote before: those that are no longer desired are removed. */
  readonly ours: ReadonlySet<string>;
  /** Whether desired keys replace those of other clients. */
  readonly wins: boolean;
}

/** MergedContent is the result of a merge by key. */
export interface MergedContent<K extends string> {
  /** All content of the object. */
  readonly content: Content<K>;
  /** The part of it that is ours. */
  readonly applied: Content<K>;
  /** Keys to which other clients gave other values, which stay as they are. Sorted. */
  readonly conflicts: readonly string[];
}

/** mergeContent adds our keys to an object and does not change those of other clients. */
export function mergeContent<K extends string>(
  stored: Content<K>,
  desired: Content<K>,
  { ours, wins }: MergeOptions,
): MergedContent<K> {
  const maps = Object.keys(desired) as K[];
  const existing = entriesIn(stored);
  const wanted = entriesIn(desired);
  const isTheirs = (key: string): boolean =>
    !wins && !ours.has(key) && existing.has(key) && !isSameEntry(existing.get(key), wanted.get(key));
  const conflicts = [...wanted.keys()].filter(isTheirs).sort();
  const kept = [...existing].filter(([key]) => !ours.has(key) && (!wanted.has(key) || conflicts.includes(key)));
  const applied = [...wanted].filter(([key]) => !conflicts.includes(key));
  return { content: contentFrom(maps, [...kept, ...applied]), applied: contentFrom(maps, applied), conflicts };
}
