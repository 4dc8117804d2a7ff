import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { runCase } from './run-case.ts';
import { openWorld } from './world.ts';

const PROGRESS_EVERY = 100;
const MAX_VIOLATIONS = 20;
/** The history of a control plane grows with every case. */
const CASES_PER_WORLD = 50;

/** proof checks that no restart, lost watch or wrong clock drops a device too early, or keeps it too long. */
export const proof: Proof = {
  name: 'grace',
  summary:
    'HSM pools while pods, nodes, watches and managers fail: devices stay for the grace period, exactly, and count once',
  defaultRuns: 2_000,
  run,
};

async function run({ runs, seed, seconds, log }: ProofOptions): Promise<ProofResult> {
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1_000;
  const violations: { seed: number; message: string }[] = [];
  const counts: Record<string, number> = {};
  let done = 0;
  const isOver = (): boolean => done >= runs || performance.now() >= deadline || violations.length >= MAX_VIOLATIONS;
  while (!isOver()) {
    await using world = await openWorld();
    for (let first = done; !isOver() && done < first + CASES_PER_WORLD; done += 1) {
      const result = await runCase(world, seed + done);
      for (const message of result.violations) violations.push({ seed: seed + done, message });
      for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count;
      if ((done + 1) % PROGRESS_EVERY === 0) log(`${done + 1} of ${runs} cases, ${violations.length} violations`);
    }
  }
  return { name: proof.name, runs: done, seed, violations, facts: { counts } };
}
