import { whyMissed } from '../missed.ts';
import { judge, type Measure, measured, type SkippedSubject, type SubjectResult, type Target } from '../result.ts';
import { rotate } from '../statistics.ts';
import type { Peer } from './peers.ts';
import { type Outcome, runSubject, type Subject } from './run-subject.ts';

/** Candidate is a subject, or one that cannot be measured here. */
export type Candidate = Subject | SkippedSubject;

/** RoundOptions configures how often the subjects are run and how long each rests before its memory is read. */
export interface RoundOptions {
  readonly rounds: number;
  readonly restMs: number;
  /** Prints the start of each round. */
  announce(round: number): void;
  /** Throws if an outcome cannot be right. Defaults to accepting everything. */
  readonly verify?: (subject: Subject, outcome: Outcome) => void;
}

/** Outcomes holds the results of the subjects, by round. */
export interface Outcomes {
  /** results extracts one number of each outcome. */
  results(value: (outcome: Outcome) => number): readonly SubjectResult[];
}

/** runRounds runs every subject once per round, each round starting with another one, so that disturbances affect all alike. */
export async function runRounds(candidates: readonly Candidate[], options: RoundOptions): Promise<Outcomes> {
  const subjects = candidates.filter((each): each is Subject => 'command' in each);
  const outcomes = new Map<string, Outcome[]>(subjects.map(({ id }) => [id, []]));
  for (let round = 0; round < options.rounds; round += 1) {
    options.announce(round);
    for (const subject of rotate(subjects, round)) {
      const outcome = await runSubject(subject, options.restMs);
      options.verify?.(subject, outcome);
      outcomes.get(subject.id)?.push(outcome);
    }
  }
  return {
    results: (value) =>
      candidates.map((each) =>
        'command' in each ? measured(each.id, each.label, (outcomes.get(each.id) ?? []).map(value)) : each,
      ),
  };
}

/** peerCandidate returns a peer as a subject, or why it was omitted. */
export function peerCandidate(id: string, label: string, peer: Peer, args: readonly string[]): Candidate {
  return 'skippedBecause' in peer
    ? { id, label, leftOut: peer.skippedBecause }
    : { id, label, command: peer.command, args };
}

/** judgedMeasure returns a measure with the results of its targets. */
export function judgedMeasure(measure: Omit<Measure, 'targets'>, targets: readonly Target[] = []): Measure {
  return { ...measure, targets: targets.map((target) => judge(target, measure.subjects, whyMissed(target.id))) };
}
