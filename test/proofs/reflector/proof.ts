import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { runCases } from '../run-cases.ts';
import { type CaseResult, runCase } from './model.ts';

/** proof checks that, whatever the faults, an informer misses no final state, restores no deleted object and never goes back. */
export const proof: Proof = {
  name: 'reflector',
  summary:
    'informers under random faults of server and network: no missed state, no resurrected object, no time travel',
  defaultRuns: 1000,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const totals = { writes: 0, events: 0, requests: 0, relists: 0, rewinds: 0 };
  const observed = async (seed: number) => {
    const result = await runCase(seed);
    if (result.violations.length > 0) options.log(describe(seed, result));
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += result[name];
    return { violations: result.violations, counts: result.faults };
  };
  const { counts, ...result } = await runCases(options, { runCase: observed, progressEvery: 250 });
  return { name: proof.name, ...result, facts: { ...totals, faults: counts } };
}

function describe(seed: number, result: CaseResult): string {
  const [first, ...others] = result.violations;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `seed ${seed}: ${first}${more}; repeat with: npm run prove -- reflector --seed ${seed} --runs 1`;
}
