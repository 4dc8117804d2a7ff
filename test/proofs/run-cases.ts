import type { ProofOptions, ProofResult } from '../../scripts/proof.ts';

/** CaseOutcome is what one case of a proof found. */
export interface CaseOutcome {
  readonly violations: readonly string[];
  /** How often something happened, by its name. */
  readonly counts: Readonly<Record<string, number>>;
}

/** CasesOptions configures how the cases of a proof run. */
export interface CasesOptions {
  readonly runCase: (seed: number) => Promise<CaseOutcome>;
  /** After how many cases progress is printed. */
  readonly progressEvery: number;
  /** How many cases run at the same time. Defaults to 1. */
  readonly concurrency?: number;
}

/** Cases is the result of all cases. */
export interface Cases extends Pick<ProofResult, 'runs' | 'seed' | 'violations'> {
  /** The sums of the counts of all cases. */
  readonly counts: Readonly<Record<string, number>>;
}

/** More violations than this have one cause. */
const MAX_VIOLATIONS = 50;

/** runCases runs the cases of a proof, each with its own seed, until all have run or the time is over. */
export async function runCases(
  { runs, seed, seconds = Number.POSITIVE_INFINITY, log }: ProofOptions,
  { runCase, progressEvery, concurrency = 1 }: CasesOptions,
): Promise<Cases> {
  const deadline = performance.now() + seconds * 1_000;
  const violations: { seed: number; message: string }[] = [];
  const counts: Record<string, number> = {};
  let started = 0;
  let done = 0;
  const isOver = (): boolean => started >= runs || performance.now() >= deadline || violations.length >= MAX_VIOLATIONS;
  const work = async (): Promise<void> => {
    while (!isOver()) {
      const current = seed + started++;
      const outcome = await runCase(current);
      for (const message of outcome.violations) violations.push({ seed: current, message });
      for (const [name, count] of Object.entries(outcome.counts)) counts[name] = (counts[name] ?? 0) + count;
      if (++done % progressEvery === 0) log(`${done} of ${runs} cases, ${violations.length} violations`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { runs: done, seed, violations: violations.sort((a, b) => a.seed - b.seed), counts };
}
