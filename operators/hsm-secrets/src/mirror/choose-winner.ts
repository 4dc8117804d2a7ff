import { hasSameContent, timeOf, type Vote } from './path-answer.ts';

/** TOMBSTONE_AGE_MS is how long a tombstone stays at least: a device may be away for that long and still learn of it. */
export const TOMBSTONE_AGE_MS = 24 * 3_600_000;

/** majorityOf returns the smallest number of devices that is more than half of all. */
export function majorityOf(devices: number): number {
  return Math.floor(devices / 2) + 1;
}

/** answersNeeded returns how many devices must answer before a secret that none of them has does not exist. */
export function answersNeeded(devices: number): number {
  return devices >= 3 ? majorityOf(devices) : Math.max(devices, 1);
}

/** isExpired reports whether a vote is a tombstone that is old enough to be purged. */
export function isExpired({ answer }: Vote, now: number): boolean {
  const time = timeOf(answer);
  return answer.kind === 'tombstone' && time > Number.NEGATIVE_INFINITY && now - time >= TOMBSTONE_AGE_MS;
}

/**
 * chooseWinner returns the vote that decides. With three or more devices, what more than half of them have wins, and
 * else the last write; with fewer devices, always the last write. There must be a vote.
 */
export function chooseWinner(votes: readonly Vote[], devices: number, now: number): Vote {
  return (devices >= 3 ? majority(votes, devices) : undefined) ?? lastWrite(votes, now);
}

function majority(votes: readonly Vote[], devices: number): Vote | undefined {
  for (const { answer } of votes) {
    const same = votes.filter((each) => hasSameContent(each.answer, answer));
    if (same.length >= majorityOf(devices)) return [...same].sort(newestFirst)[0];
  }
  return undefined;
}

/**
 * lastWrite returns the vote with the highest version, then the latest time, then the lowest serial number.
 *
 * Versions start again after a tombstone was purged. If that did not reach all devices, a new secret has a lower
 * version than an old tombstone, so time decides between a copy and a tombstone that is old enough to be purged.
 */
export function lastWrite(votes: readonly Vote[], now: number): Vote {
  const expired = votes.filter((vote) => isExpired(vote, now));
  const candidates = votes.filter((vote) =>
    expired.includes(vote)
      ? !votes.some(({ answer }) => answer.kind === 'copy' && timeOf(answer) > timeOf(vote.answer))
      : !expired.some((tombstone) => isSuperseded(vote, tombstone)),
  );
  const [first] = candidates.sort(newestFirst);
  if (first === undefined) throw new TypeError('cannot choose a winner without votes');
  return first;
}

function isSuperseded({ answer }: Vote, { answer: tombstone }: Vote): boolean {
  return answer.version <= tombstone.version && timeOf(answer) < timeOf(tombstone);
}

/** newestFirst orders votes by version, time and serial number. */
function newestFirst(a: Vote, b: Vote): number {
  return (
    b.answer.version - a.answer.version || compare(timeOf(b.answer), timeOf(a.answer)) || compare(a.serial, b.serial)
  );
}

function compare<T extends string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
