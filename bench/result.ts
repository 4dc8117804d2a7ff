import { type Summary, summarize } from './statistics.ts';

/** BenchResult is what a suite measured, as kept in `bench/results`. Numbers are comparable within one result only. */
export interface BenchResult {
  /** The shape's version; raised when a field changes its meaning. */
  readonly format: 1;
  readonly suite: string;
  readonly title: string;
  /** When the run ended, ISO 8601. */
  readonly date: string;
  readonly command: string;
  readonly machine: Machine;
  /** What a reader must know to judge the numbers. */
  readonly notes: readonly string[];
  readonly measures: readonly Measure[];
}

/** Machine is where the run took place: nothing that names it. */
export interface Machine {
  readonly cores: number;
  readonly memoryGb: number;
  readonly platform: string;
  /** The load average of the minute before the run: above about 0.5 something else was running, and times are worth little. */
  readonly loadBefore: number;
  /** Versions by name: `node`, `kubernetes`, the peers. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Unit says what a measure's numbers are. */
export type Unit = 'ms' | 'µs' | 'MB' | 'kB' | 'events/s' | 'writes/s' | 'requests';

/** Measure is one question, the subjects that were asked it, and what was to be reached. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly subjects: readonly SubjectResult[];
  readonly targets: readonly TargetResult[];
}

/** SubjectResult is one subject's answer, or why there is none. */
export type SubjectResult = MeasuredSubject | LeftOutSubject;

/** MeasuredSubject carries every round's value. */
export interface MeasuredSubject extends Summary {
  readonly id: string;
  readonly label: string;
  readonly samples: readonly number[];
}

/** LeftOutSubject could not be measured here. */
export interface LeftOutSubject {
  readonly id: string;
  readonly label: string;
  readonly leftOut: string;
}

/**
 * Target is what a measure is to reach: a limit on the subject's median, on its ratio to another subject's, or on what it
 * is above another subject's.
 */
export interface Target {
  readonly id: string;
  /** The subject that is judged. */
  readonly subject: string;
  /** The subject it is compared with. Defaults to none: the limit is in the measure's unit. */
  readonly against?: string;
  /** How the two are compared. Defaults to `ratio`. */
  readonly by?: 'ratio' | 'difference';
  readonly bound: 'at most' | 'at least';
  readonly limit: number;
}

/** TargetResult is a target and what came of it. `reached` is absent when a side of the comparison was left out. */
export interface TargetResult extends Target {
  readonly value?: number;
  readonly reached?: boolean;
  /** Why a target was missed, as far as a profile could tell. */
  readonly because?: string;
}

/** measured rounds the samples to a thousandth, which is finer than any of them repeats, and summarizes them. */
export function measured(id: string, label: string, samples: readonly number[]): MeasuredSubject {
  const kept = samples.map(thousandth);
  const { rounds, median, min, max } = summarize(kept);
  return { id, label, rounds, median: thousandth(median), min, max, samples: kept };
}

/** judge compares the subjects' medians with a target. */
export function judge(target: Target, subjects: readonly SubjectResult[], because?: string): TargetResult {
  const value = medianOf(subjects, target.subject);
  const base = target.against === undefined ? value : medianOf(subjects, target.against);
  if (value === undefined || base === undefined) return target;
  const compared = thousandth(compare(target, value, base));
  const reached = target.bound === 'at most' ? compared <= target.limit : compared >= target.limit;
  return { ...target, value: compared, reached, ...(reached || because === undefined ? {} : { because }) };
}

function compare({ against, by = 'ratio' }: Target, value: number, base: number): number {
  if (against === undefined) return value;
  return by === 'ratio' ? value / base : value - base;
}

function medianOf(subjects: readonly SubjectResult[], id: string): number | undefined {
  const subject = subjects.find((each) => each.id === id);
  return subject === undefined || 'leftOut' in subject ? undefined : subject.median;
}

function thousandth(value: number): number {
  return Math.round(value * 1000) / 1000;
}
