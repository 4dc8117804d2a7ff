import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSubjects } from '../../../bench/support/bundle.ts';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { runCases } from '../run-cases.ts';
import { runCase, STEPS } from './run-case.ts';

/** In so many cases every step is hit; fewer are a sample. */
const COMPLETE_RUNS = 500;

/** proof checks that a killed sync leaves the old or the new state. */
export const proof: Proof = {
  name: 'sync-kill',
  summary:
    'an agent of Ignition Sync killed with -9 at every step and at random bytes of a sync: every path is old or new, and after the recovery all are',
  defaultRuns: 1_000,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-sync-kill-'));
  try {
    const bundled = await bundleSubjects([new URL('./agent-child.ts', import.meta.url)], folder);
    const [program = ''] = bundled('agent-child').args;
    const { counts, violations, ...result } = await runCases(options, {
      runCase: (seed) => runCase(seed, { program }),
      progressEvery: 100,
      concurrency: availableParallelism(),
    });
    const missed = STEPS.filter((step) => counts[`killed at ${step}`] === undefined);
    const isMissing = result.runs >= COMPLETE_RUNS && missed.length > 0;
    const missing = isMissing ? [{ seed: result.seed, message: `no agent was killed at ${missed.join(', ')}` }] : [];
    return { name: proof.name, ...result, violations: [...violations, ...missing], facts: { ...counts, missed } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
