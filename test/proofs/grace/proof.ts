import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { CaseProcesses } from '../case-processes.ts';
import { runCases } from '../run-cases.ts';
import type { CaseResult } from './run-case.ts';

/** proof checks that no restart, lost watch or wrong clock drops a device too early, or keeps it too long. */
export const proof: Proof = {
  name: 'grace',
  summary:
    'HSM pools while pods, nodes, watches and managers fail: devices stay for exactly the grace period, and count once',
  defaultRuns: 2_000,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  await using processes = new CaseProcesses<CaseResult>(new URL('./case-child.ts', import.meta.url));
  const { counts, ...result } = await runCases(options, {
    runCase: (seed) => processes.run(seed),
    concurrency: processes.concurrency,
    progressEvery: 100,
  });
  return { name: proof.name, ...result, facts: { counts } };
}
