import type { SecretSummary } from '../../../operators/hsm-secrets/src/token/token-service.ts';

const DAY_MS = 86_400_000;

/** OracleInput is what all devices have at a path, when all of them are reachable. */
export interface OracleInput {
  /** In the order of the serial numbers. Undefined for a device that has neither a secret nor a tombstone. */
  readonly found: readonly (SecretSummary | undefined)[];
  readonly now: number;
  /** The index of the device that decides alone, if it has something. */
  readonly primary: number | undefined;
}

/**
 * expectedContent returns what all devices must have in the end; undefined if that is nothing. It is written
 * independently of the resolver: the primary device decides, else more than half of three or more devices, else the last
 * write. Between a copy and a tombstone of more than a day, time decides before the version.
 */
export function expectedContent(input: OracleInput): SecretSummary | undefined {
  const winner = winnerOf(input);
  return winner && isOldTombstone(winner, input.now) ? undefined : winner;
}

function winnerOf({ found, now, primary }: OracleInput): SecretSummary | undefined {
  const votes = found.filter((each) => each !== undefined);
  const decisive = primary === undefined ? undefined : found[primary];
  if (decisive) return decisive;
  for (const vote of votes) {
    const same = votes.filter((each) => isSameContent(each, vote));
    if (found.length >= 3 && same.length > found.length / 2) return latest(same);
  }
  // A secret that was written after such a deletion counts, and one that was deleted by it does not.
  const deletions = votes.filter((vote) => isOldTombstone(vote, now));
  const deletedAt = Math.max(...deletions.map(timeOf));
  const isRestarted = votes.some((vote) => !vote.isDeleted && timeOf(vote) > deletedAt);
  return latest(
    votes.filter((vote) => {
      if (deletions.includes(vote)) return !isRestarted && timeOf(vote) === deletedAt;
      return !deletions.some((deletion) => vote.version <= deletion.version && timeOf(vote) < timeOf(deletion));
    }),
  );
}

function isSameContent(a: SecretSummary, b: SecretSummary): boolean {
  return a.version === b.version && a.isDeleted === b.isDeleted && a.checksum === b.checksum;
}

function isOldTombstone(vote: SecretSummary, now: number): boolean {
  return vote.isDeleted && now - timeOf(vote) >= DAY_MS;
}

function latest(votes: readonly SecretSummary[]): SecretSummary | undefined {
  let best: SecretSummary | undefined;
  for (const vote of votes) {
    if (!best || vote.version > best.version || (vote.version === best.version && timeOf(vote) > timeOf(best)))
      best = vote;
  }
  return best;
}

function timeOf({ timestamp }: SecretSummary): number {
  return Date.parse(timestamp ?? '');
}
