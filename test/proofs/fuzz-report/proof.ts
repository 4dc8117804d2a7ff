import { type Random, seededRandom } from '@bowline/machinery';
import { MAX_DEVICES } from '../../../operators/hsm-secrets/src/api/pool-status.ts';
import { type Aggregation, aggregate } from '../../../operators/hsm-secrets/src/pool/aggregate.ts';
import type { AggregationInput } from '../../../operators/hsm-secrets/src/pool/aggregation-input.ts';
import { parseReport } from '../../../operators/hsm-secrets/src/reports/parse-report.ts';
import type { Report } from '../../../operators/hsm-secrets/src/reports/report.ts';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { type HostileReport, hostileReport } from './hostile-report.ts';
import { aggregationProblems, parserProblems, repetitionProblems } from './judge.ts';
import { PoolHistory } from './pool-history.ts';

/** The maximum time for one call. Only processor time counts: other programs may run on this machine. */
const MAX_CPU_MS = 250;
/** The additional time for each reported device of an aggregation, which takes about a fifth of it. */
const MAX_CPU_MS_PER_DEVICE = 0.01;
const MAX_VIOLATIONS = 50;
const BETWEEN_LINES = 10_000;
/** A generator whose reports are never accepted would prove nothing, nor would one that has all of them accepted. */
const MIN_ACCEPTED = 0.2;
const MAX_ACCEPTED = 0.8;
const MAX_QUOTE = 400;
const STEPS = 3;

/** proof checks that no annotation harms the manager, and that the parser accepts exactly the reports that are allowed. */
export const proof: Proof = {
  name: 'fuzz-report',
  summary:
    'hostile discovery reports: the parser accepts exactly those that are allowed, and every pool made from them is valid',
  defaultRuns: 100_000,
  run,
};

interface Totals {
  accepted: number;
  aggregations: number;
  /** Aggregations with more devices than a status lists. */
  crowded: number;
  slowestCpuMs: number;
}

function run({ runs, seed, seconds = Number.POSITIVE_INFINITY, log }: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const violations: { seed: number; message: string }[] = [];
  const families: Record<string, { texts: number; accepted: number }> = {};
  const totals: Totals = { accepted: 0, aggregations: 0, crowded: 0, slowestCpuMs: 0 };
  let count = 0;
  while (count < runs && performance.now() - startedAt < seconds * 1_000 && violations.length < MAX_VIOLATIONS) {
    const current = seed + count++;
    const random = seededRandom(current);
    const hostile = hostileReport(random);
    const before = totals.accepted;
    for (const problem of problemsOf(random, hostile, totals))
      violations.push({ seed: current, message: `${problem} <- ${quoted(hostile)}` });
    const { texts, accepted } = families[hostile.family] ?? { texts: 0, accepted: 0 };
    families[hostile.family] = { texts: texts + 1, accepted: accepted + totals.accepted - before };
    if (count % BETWEEN_LINES === 0)
      log(`${count} of ${runs} reports, ${totals.accepted} accepted, ${violations.length} violations`);
  }
  const share = totals.accepted / count;
  if (count >= 1_000 && (share < MIN_ACCEPTED || share > MAX_ACCEPTED))
    violations.push({
      seed,
      message: `${totals.accepted} of ${count} reports were accepted: the generator is not effective`,
    });
  return Promise.resolve({ name: proof.name, runs: count, seed, violations, facts: { ...totals, families } });
}

function problemsOf(random: Random, { text }: HostileReport, totals: Totals): readonly string[] {
  const parsed = timed('the parser', MAX_CPU_MS, () => parseReport(text), totals);
  if (!parsed.value) return parsed.problems;
  const problems = [...parsed.problems, ...parserProblems(text, parsed.value)];
  if (!('report' in parsed.value)) return problems;
  totals.accepted++;
  return [...problems, ...poolProblems(random, parsed.value.report, totals)];
}

function poolProblems(random: Random, report: Report, totals: Totals): readonly string[] {
  const history = new PoolHistory(random, report);
  const problems: string[] = [];
  let last: Aggregation | undefined;
  for (let step = 0; step < STEPS; step++) {
    const input = history.next(last);
    const result = timed('the aggregation', budgetOf(input), () => aggregate(input), totals);
    problems.push(...result.problems);
    if (!result.value) return problems;
    totals.aggregations++;
    if (result.value.devices.length > MAX_DEVICES) totals.crowded++;
    problems.push(...aggregationProblems(input, result.value));
    problems.push(...repetitionProblems(result.value, aggregate({ ...input, previous: result.value })));
    last = result.value;
  }
  return problems;
}

function budgetOf({ livePods }: AggregationInput): number {
  const devices = livePods.reduce((sum, { report }) => sum + (report?.discoveredDevices.length ?? 0), 0);
  return MAX_CPU_MS + devices * MAX_CPU_MS_PER_DEVICE;
}

/** timed runs the work and returns its value, unless it throws, and whether it took too long. */
function timed<T>(
  what: string,
  maxMs: number,
  work: () => T,
  totals: Totals,
): { readonly value?: T; readonly problems: string[] } {
  const began = performance.now();
  try {
    const value = work();
    // Measuring processor time takes as long as parsing a short report. The faster of two runs counts: garbage may be
    // collected, or code compiled, during the other.
    const isFast = performance.now() - began < maxMs / 5;
    const cpuMs = isFast ? 0 : Math.min(cpuTime(work), cpuTime(work));
    totals.slowestCpuMs = Math.max(totals.slowestCpuMs, cpuMs);
    return { value, problems: cpuMs > maxMs ? [`${what} took ${cpuMs} ms of processor time`] : [] };
  } catch (error) {
    return { problems: [`${what} throws ${error instanceof Error ? error.stack : String(error)}`] };
  }
}

function cpuTime(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return Math.round((user + system) / 1_000);
}

function quoted({ family, text }: HostileReport): string {
  const short = JSON.stringify(text);
  return `${family} ${short.length > MAX_QUOTE ? `${short.slice(0, MAX_QUOTE)}… (${text.length} characters)` : short}`;
}
