import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { runCase } from './run-case.ts';
import { tokenKinds } from './tokens.ts';

const PROGRESS_EVERY = 100;
const MAX_VIOLATIONS = 50;

/** proof checks that no crash mixes or loses the contents of a token, and that no wrong PIN is tried twice. */
export const proof: Proof = {
  name: 'token',
  summary:
    'HSM secrets under crashes at any call of a token: old or new content, nothing left over, no second wrong PIN',
  defaultRuns: 500,
  run,
};

async function run({ runs, seed, seconds, log }: ProofOptions): Promise<ProofResult> {
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1000;
  const violations: { seed: number; message: string }[] = [];
  const counts: Record<string, number> = {};
  const kinds = tokenKinds();
  let done = 0;
  for (; done < runs && performance.now() < deadline && violations.length < MAX_VIOLATIONS; done++) {
    for (const kind of kinds) {
      const result = await runCase(seed + done, kind);
      for (const message of result.violations)
        violations.push({ seed: seed + done, message: `${kind.name} token: ${message}` });
      for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count;
    }
    if ((done + 1) % PROGRESS_EVERY === 0) log(`${done + 1} of ${runs} cases, ${violations.length} violations`);
  }
  return { name: proof.name, runs: done, seed, violations, facts: { tokens: kinds.map(({ name }) => name), counts } };
}
