import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { runCase } from './world.ts';

const PROGRESS_EVERY = 500;

/** proof checks that mirrored devices become equal, and that no acknowledged write is lost. */
export const proof: Proof = {
  name: 'mirror',
  summary:
    'mirrored HSM devices that are lost, replaced and written at the same time: they become equal as the rules say, and no acknowledged write is lost (--trace true: what happens)',
  defaultRuns: 5_000,
  run,
};

async function run({ runs, seed, seconds, log, flags = {} }: ProofOptions): Promise<ProofResult> {
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1_000;
  const violations: { seed: number; message: string }[] = [];
  const facts: Record<string, number> = {};
  let done = 0;
  for (; done < runs && performance.now() < deadline; done++) {
    const result = await runCase(seed + done, {}, flags.trace === undefined ? undefined : log);
    for (const message of result.violations) violations.push({ seed: seed + done, message });
    for (const [name, count] of Object.entries(result.counts)) facts[name] = (facts[name] ?? 0) + count;
    if ((done + 1) % PROGRESS_EVERY === 0) log(`${done + 1} of ${runs} cases, ${violations.length} violations`);
  }
  return { name: proof.name, runs: done, seed, violations, facts };
}
