import { formatMicroTime } from '@bowline/machinery';
import { chooseWinner, isExpired, lastWrite, majorityOf } from './choose-winner.ts';
import {
  type Copy,
  hasSameContent,
  isSameAnswer,
  isSameValue,
  isVote,
  type PathAnswer,
  type Tombstone,
  timeOf,
  type Vote,
} from './path-answer.ts';

/** ResolveInput is what the devices know about one path. */
export interface ResolveInput {
  /** The serial numbers of all devices that should have the path, also of those that cannot be reached. */
  readonly expected: readonly string[];
  /** By serial number. A device without an answer was not asked. */
  readonly answers: ReadonlyMap<string, PathAnswer>;
  /** When the devices were asked, in milliseconds. */
  readonly now: number;
  /** The device whose copy or tombstone decides alone. Undefined: the devices decide together. */
  readonly primary?: string | undefined;
  /** How long a write may take to reach all devices. Defaults to 90 s: three calls with the longest duration. */
  readonly writeMs?: number | undefined;
}

/**
 * Consistency is whether the devices have the same content for a path. Diverged: two of them differ. Unknown: those
 * that answered have the same content, but not all have answered.
 */
export type Consistency = 'Consistent' | 'Diverged' | 'Unknown';

/** Winner is the content that all devices should have. */
export interface Winner {
  /** What the holders have. */
  readonly found: Copy | Tombstone;
  /** The devices that have it, in the order in which to read it. */
  readonly holders: readonly string[];
  /** The version to write: that of the holders, or 1 if they have none. */
  readonly version: number;
  /** The time to write: that of the holders, or now if they have none. */
  readonly timestamp: string;
}

/** Outlier is a device that does not have the content of the winner. */
export interface Outlier {
  readonly serial: string;
  /** What a write replaces (see WriteOptions). Undefined: a secret without a version, which cannot be guarded. */
  readonly replaces: number | undefined;
}

/** Decision is what to do about a path. */
export type Decision = {
  readonly consistency: Consistency;
  /** Whether content would be or was discarded that is not just an older version of the winner. */
  readonly hasConflict: boolean;
} & (
  | { readonly action: 'none'; readonly winner: Winner | undefined }
  /** Not enough devices have answered, or a write may be in progress. */
  | { readonly action: 'wait' }
  | { readonly action: 'rewrite'; readonly winner: Winner; readonly outliers: readonly Outlier[] }
  | { readonly action: 'purge'; readonly tombstones: readonly { readonly serial: string; readonly version: number }[] }
);

const WRITE_MS = 90_000;

/** resolve decides what all devices should have at a path, and which of them must be changed for that. */
export function resolve(input: ResolveInput): Decision {
  const { now } = input;
  const votes = votesOf(input);
  const consistency = consistencyOf(input);
  const [vote] = votes;
  if (vote === undefined) return { action: 'none', winner: undefined, consistency, hasConflict: false };
  if (isPurgeable(votes, input)) {
    const tombstones = votes.map(({ serial, answer }) => ({ serial, version: answer.version }));
    return { action: 'purge', tombstones, consistency, hasConflict: false };
  }
  const hasDifferences = consistency === 'Diverged' || isUndatedTombstone(vote);
  if (!hasDifferences) return { action: 'none', winner: winnerOf(vote, votes, now), consistency, hasConflict: false };
  const chosen = chooseVote(votes, input);
  const { answer: newest } = chosen ?? lastWrite(votes, now);
  const hasConflict = votes.some(({ answer }) => isConflicting(answer, newest));
  if (!chosen || isBeingWritten(votes, chosen, input)) return { action: 'wait', consistency, hasConflict };
  const winner = winnerOf(chosen, votes, now);
  return { action: 'rewrite', winner, outliers: outliersOf(winner, input), consistency, hasConflict };
}

/** consistencyOf returns whether the devices have the same content for a path. */
export function consistencyOf({ expected, answers }: Pick<ResolveInput, 'expected' | 'answers'>): Consistency {
  const known = expected.flatMap((serial) => answers.get(serial) ?? []).filter(({ kind }) => kind !== 'error');
  const [first, ...others] = known;
  if (first && others.some((other) => !isSameKnowledge(first, other))) return 'Diverged';
  return known.length === expected.length ? 'Consistent' : 'Unknown';
}

function isSameKnowledge(a: PathAnswer, b: PathAnswer): boolean {
  return isVote(a) && isVote(b) ? isSameAnswer(a, b) : a.kind === b.kind;
}

function votesOf({ expected, answers }: ResolveInput): readonly Vote[] {
  return expected.flatMap((serial) => {
    const answer = answers.get(serial);
    return answer && isVote(answer) ? [{ serial, answer }] : [];
  });
}

/** Once no device has a copy, an old tombstone has nothing left to prevent. */
function isPurgeable(votes: readonly Vote[], { expected, answers, now }: ResolveInput): boolean {
  const absent = expected.filter((serial) => answers.get(serial)?.kind === 'absent');
  return votes.length + absent.length === expected.length && votes.every((vote) => isExpired(vote, now));
}

/** A tombstone without a time would never be purged. */
function isUndatedTombstone({ answer }: Vote): boolean {
  return answer.kind === 'tombstone' && timeOf(answer) === Number.NEGATIVE_INFINITY;
}

/** chooseVote returns the vote that decides; undefined if too few devices have answered. */
function chooseVote(votes: readonly Vote[], input: ResolveInput): Vote | undefined {
  const { expected, answers, now, primary } = input;
  if (primary !== undefined) {
    const vote = votes.find(({ serial }) => serial === primary);
    if (vote) return vote;
    // A primary device without the path is new or was replaced: the other devices keep theirs, and it gets a copy.
    if (answers.get(primary)?.kind !== 'absent') return undefined;
  }
  return isQuorum(votes, input) ? chooseWinner(votes, expected.length, now) : undefined;
}

/**
 * isQuorum reports whether enough devices have answered. An absent path counts only if all devices have answered: a
 * device that was replaced has forgotten what it had, and together with it a minority of devices that missed a write
 * could outvote those that are away and have it.
 */
function isQuorum(votes: readonly Vote[], { expected, answers }: ResolveInput): boolean {
  const absent = expected.filter((serial) => answers.get(serial)?.kind === 'absent');
  if (votes.length + absent.length === expected.length) return true;
  return expected.length >= 3 && votes.length >= majorityOf(expected.length);
}

function isConflicting(answer: Copy | Tombstone, winner: Copy | Tombstone): boolean {
  return answer.version >= winner.version && !isSameValue(answer, winner);
}

/**
 * isBeingWritten reports whether a device has other content, of the same or a newer version, that may be part of a write
 * in progress. To replace it would undo a write whose client is about to be told that it succeeded.
 */
function isBeingWritten(votes: readonly Vote[], winner: Vote, { now, writeMs = WRITE_MS }: ResolveInput): boolean {
  return votes.some(({ answer }) => {
    const isOther = answer.version >= winner.answer.version && !hasSameContent(answer, winner.answer);
    return isOther && Math.abs(now - timeOf(answer)) < writeMs;
  });
}

function winnerOf({ serial, answer }: Vote, votes: readonly Vote[], now: number): Winner {
  const same = votes.filter((vote) => vote.serial !== serial && hasSameContent(vote.answer, answer));
  const [exact, others] = [true, false].map((isExact) =>
    same.filter((vote) => isSameAnswer(vote.answer, answer) === isExact).map((vote) => vote.serial),
  );
  return {
    found: answer,
    holders: [serial, ...(exact ?? []), ...(others ?? [])],
    version: Math.max(1, answer.version),
    timestamp: timeOf(answer) === Number.NEGATIVE_INFINITY ? formatMicroTime(now) : (answer.timestamp ?? ''),
  };
}

function outliersOf({ found, version, timestamp }: Winner, { expected, answers }: ResolveInput): readonly Outlier[] {
  const target = { ...found, version, timestamp };
  return expected.flatMap((serial): Outlier[] => {
    const answer = answers.get(serial) ?? { kind: 'error' };
    if (answer.kind === 'error') return [];
    if (!isVote(answer)) return [{ serial, replaces: 0 }];
    return isSameAnswer(answer, target)
      ? []
      : [{ serial, replaces: answer.version === 0 ? undefined : answer.version }];
  });
}
