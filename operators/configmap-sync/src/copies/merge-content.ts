import { type Content, contentFrom, entriesOf } from '../content/content.ts';
import { contentHash } from '../content/content-hash.ts';
import type { Applied } from './desired-copy.ts';
import { formatKeys } from './managed-keys.ts';

/** Merged is what the policy Merge makes of a copy. */
export interface Merged extends Applied {
  /** Keys that both sides have and that are not ours: their values stay as they are. */
  readonly conflicts: readonly string[];
}

/**
 * mergeContent puts our keys into a copy and leaves those of others alone. `ours` are the keys that we wrote before: those that
 * are no longer desired are removed. A desired key that somebody else has put there stays theirs, unless `wins`.
 */
export function mergeContent(
  there: Content,
  desired: Content,
  { ours, wins }: { readonly ours: ReadonlySet<string>; readonly wins: boolean },
): Merged {
  const existing = entriesOf(there);
  const wanted = entriesOf(desired);
  const isTheirs = (key: string): boolean => {
    const before = existing.get(key);
    const after = wanted.get(key);
    return (
      !wins && !ours.has(key) && before !== undefined && (before.type !== after?.type || before.value !== after.value)
    );
  };
  const conflicts = [...wanted.keys()].filter(isTheirs).sort();
  const kept = [...existing].filter(([key]) => !ours.has(key) && (!wanted.has(key) || conflicts.includes(key)));
  const applied = [...wanted].filter(([key]) => !conflicts.includes(key));
  return {
    content: contentFrom([...kept, ...applied]),
    hash: contentHash(contentFrom(applied)),
    managedKeys: formatKeys(applied.map(([key]) => key)),
    conflicts,
  };
}

/** losesSomething says whether a value of some content is gone, or another, in what takes its place. */
export function losesSomething(before: Content, after: Content): boolean {
  const next = entriesOf(after);
  return [...entriesOf(before)].some(([key, { type, value }]) => {
    const entry = next.get(key);
    return entry?.type !== type || entry.value !== value;
  });
}
