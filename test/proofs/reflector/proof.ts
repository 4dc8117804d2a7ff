import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { type CaseResult, runCase } from './model.ts';

const PROGRESS_EVERY = 250;

/** proof checks that, whatever the faults, an informer misses no final state, restores no deleted object and never goes back. */
export const proof: Proof = {
  name: 'reflector',
  summary:
    'informers under random faults of server and network: no missed state, no resurrected object, no time travel',
  defaultRuns: 1000,
  run,
};

async function run({ runs, seed, seconds, log }: ProofOptions): Promise<ProofResult> {
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1000;
  const violations: { seed: number; message: string }[] = [];
  const totals = { writes: 0, events: 0, requests: 0, relists: 0, rewinds: 0 };
  const faults: Record<string, number> = {};
  let done = 0;
  for (; done < runs && performance.now() < deadline; done++) {
    const result = await runCase(seed + done);
    for (const message of result.violations) violations.push({ seed: seed + done, message });
    if (result.violations.length > 0) log(describe(seed + done, result));
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += result[name];
    for (const [name, count] of Object.entries(result.faults)) faults[name] = (faults[name] ?? 0) + count;
    if ((done + 1) % PROGRESS_EVERY === 0) log(`${done + 1} of ${runs} cases, ${violations.length} violations`);
  }
  return { name: proof.name, runs: done, seed, violations, facts: { ...totals, faults } };
}

function describe(seed: number, result: CaseResult): string {
  const [first, ...others] = result.violations;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `seed ${seed}: ${first}${more}; repeat with: npm run prove -- reflector --seed ${seed} --runs 1`;
}
