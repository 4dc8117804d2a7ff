import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { CaseProcesses } from '../case-processes.ts';
import { type CaseOutcome, runCases } from '../run-cases.ts';
import { runCase } from './run-case.ts';

/** proof compares the sync engine of Ignition Sync with a naive model. */
export const proof: Proof = {
  name: 'sync-tree',
  summary:
    'random repositories, mappings, patterns, transforms and live trees, hostile names and modes: the sync engine does what a naive model does, and touches nothing outside the data folder (--trace true: what happens)',
  defaultRuns: 10_000,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const { log, flags = {} } = options;
  await using processes = new CaseProcesses<CaseOutcome>(new URL('./case-child.ts', import.meta.url));
  const { counts, ...result } = await runCases(options, {
    // A traced case runs here, so that its output appears in order.
    runCase: (seed) => (flags.trace === undefined ? processes.run(seed) : runCase(seed, { trace: log })),
    progressEvery: 1_000,
    concurrency: flags.trace === undefined ? processes.concurrency : 1,
  });
  return { name: proof.name, ...result, facts: counts };
}
