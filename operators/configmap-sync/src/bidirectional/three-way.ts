import { type Content, contentFrom, type Entry, entriesOf } from '../content/content.ts';
import { entryHash } from '../content/content-hash.ts';

/** ThreeWayOptions holds both sides of a two-way sync, and what they last had in common. */
export interface ThreeWayOptions {
  /** `keyHashes` of the content that both sides last had. Empty before the first sync. */
  readonly base: Readonly<Record<string, string>>;
  readonly source: Content;
  readonly destination: Content;
  /** How to decide a key that both sides changed in different ways. */
  readonly policy: 'SourceWins' | 'SkipIfModified' | 'Merge' | 'NewestWins' | 'Manual';
  /** The side that was written last: it wins with NewestWins. */
  readonly newer: 'source' | 'destination';
  /** Decides all conflicts, overriding the policy. Defaults to the policy. */
  readonly resolve?: 'Source' | 'Destination' | undefined;
}

/** ThreeWayResult holds the desired content of both sides. */
export interface ThreeWayResult {
  /** What both sides agree on: everything except the conflicts. */
  readonly merged: Content;
  /** The desired content of the source: `merged`, and its own values of the conflicts. */
  readonly source: Content;
  /** The desired content of the destination: `merged`, and its own values of the conflicts. */
  readonly destination: Content;
  /** The base of the next comparison: for a conflict, the previous base. */
  readonly base: Readonly<Record<string, string>>;
  /** The keys that are left unchanged on both sides, sorted. */
  readonly conflicts: readonly string[];
  readonly writeSource: boolean;
  readonly writeDestination: boolean;
}

/**
 * threeWay merges two sides that may both have been edited. A key that one side changed, added or removed since the
 * base is applied to the other side. A key that both changed in different ways is decided by the policy:
 * - `SourceWins`: as in the source, also if the source removed it;
 * - `Merge`: an edit beats a removal; of two edits, the source's wins;
 * - `NewestWins`: as in the side that was written last;
 * - `SkipIfModified` and `Manual`: not decided until `resolve` is set or the sides agree.
 */
export function threeWay(options: ThreeWayOptions): ThreeWayResult {
  const source = entriesOf(options.source);
  const destination = entriesOf(options.destination);
  const base = baseStates(options.base);
  const merged = new Map<string, Entry>();
  const nextBase = new Map<string, string>();
  const conflicts: string[] = [];
  const writes = { source: false, destination: false };
  for (const key of [...new Set([...source.keys(), ...destination.keys()])].sort()) {
    const ours = stateOf(source.get(key));
    const theirs = stateOf(destination.get(key));
    const before = base.get(key);
    const winner = winnerOf(options, { ours, theirs, before });
    if (winner === undefined) {
      conflicts.push(key);
      if (before !== undefined) nextBase.set(key, before);
      continue;
    }
    if (ours !== theirs) writes[winner === 'source' ? 'destination' : 'source'] = true;
    const entry = (winner === 'source' ? source : destination).get(key);
    if (entry === undefined) continue;
    merged.set(key, entry);
    nextBase.set(key, stateOf(entry) ?? '');
  }
  const withConflictsOf = (side: ReadonlyMap<string, Entry>): Content => {
    const own = conflicts.flatMap((key) => {
      const entry = side.get(key);
      return entry ? [[key, entry] as const] : [];
    });
    return contentFrom([...merged, ...own]);
  };
  return {
    merged: contentFrom(merged),
    source: withConflictsOf(source),
    destination: withConflictsOf(destination),
    base: Object.fromEntries([...nextBase].map(([key, state]) => [`${state.slice(0, 2)}${key}`, state.slice(2)])),
    conflicts,
    writeSource: writes.source,
    writeDestination: writes.destination,
  };
}

/** A state is `d/` or `b/` and the hash of a value; it is undefined for a missing key. */
interface States {
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
  readonly before: string | undefined;
}

function winnerOf(
  { policy, newer, resolve }: ThreeWayOptions,
  { ours, theirs, before }: States,
): 'source' | 'destination' | undefined {
  if (ours === theirs || theirs === before) return 'source';
  if (ours === before) return 'destination';
  if (resolve !== undefined) return resolve === 'Source' ? 'source' : 'destination';
  switch (policy) {
    case 'SourceWins':
      return 'source';
    case 'Merge':
      return ours === undefined ? 'destination' : 'source';
    case 'NewestWins':
      return newer;
    case 'SkipIfModified':
    case 'Manual':
      return undefined;
  }
}

function stateOf(entry: Entry | undefined): string | undefined {
  return entry && `${entry.type}/${entryHash(entry)}`;
}

function baseStates(base: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(base).map(([id, hash]) => [id.slice(2), `${id.slice(0, 2)}${hash}`]));
}
