import { type Summary, summarize } from './statistics.ts';

/** BenchResult is the result of a suite, as kept in `bench/results`. Numbers are comparable only within one result. */
export interface BenchResult {
  /** The version of the format; increased when a field changes its meaning. */
  readonly format: 1;
  readonly suite: string;
  readonly title: string;
  /** When the run ended, ISO 8601. */
  readonly date: string;
  readonly command: string;
  readonly machine: Machine;
  /** Notes needed to interpret the numbers. */
  readonly notes: readonly string[];
  readonly measures: readonly Measure[];
}

/** Machine describes the machine of the run without identifying it. */
export interface Machine {
  readonly cores: number;
  readonly memoryGb: number;
  readonly platform: string;
  /** The load average of the minute before the run: above about 0.5 other programs were running, and times are unreliable. */
  readonly loadBefore: number;
  /** Versions by name: `node`, `kubernetes`, the peers. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Unit is the unit of a measure's numbers. */
export type Unit = 'ms' | 'µs' | 'MB' | 'kB' | 'events/s' | 'writes/s' | 'requests' | 'objects' | '%';

/** Measure is one measurement, its subjects and targets. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  readonly unit: Unit;
  readonly subjects: readonly SubjectResult[];
  readonly targets: readonly TargetResult[];
}

/** SubjectResult is the result of one subject, or why there is none. */
export type SubjectResult = MeasuredSubject | SkippedSubject;

/** MeasuredSubject holds the value of every round. */
export interface MeasuredSubject extends Summary {
  readonly id: string;
  readonly label: string;
  readonly samples: readonly number[];
}

/** SkippedSubject could not be measured here. */
export interface SkippedSubject {
  readonly id: string;
  readonly label: string;
  readonly leftOut: string;
}

/**
 * Target is the target of a measure: a limit on the subject's median, on its ratio to another subject's, or on its difference to
 * another subject's.
 */
export interface Target {
  readonly id: string;
  /** The subject to check. */
  readonly subject: string;
  /** The subject to compare with. Defaults to none: the limit is in the measure's unit. */
  readonly against?: string;
  /** How the two are compared. Defaults to `ratio`. */
  readonly by?: 'ratio' | 'difference';
  readonly bound: 'at most' | 'at least';
  readonly limit: number;
}

/** TargetResult is a target and its result. `reached` is absent if a side of the comparison was omitted. */
export interface TargetResult extends Target {
  readonly value?: number;
  readonly reached?: boolean;
  /** Why a target was missed, as far as a profile shows. */
  readonly because?: string;
}

/** measured rounds the samples to a thousandth, which is finer than their repeatability, and summarizes them. */
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
