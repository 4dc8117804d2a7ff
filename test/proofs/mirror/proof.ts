import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { runCases } from '../run-cases.ts';
import { runCase } from './world.ts';

/** proof checks that mirrored devices become equal, and that no acknowledged write is lost. */
export const proof: Proof = {
  name: 'mirror',
  summary:
    'mirrored HSM devices that are lost, replaced and written at the same time: they become equal as the rules say, and no acknowledged write is lost (--trace true: what happens)',
  defaultRuns: 5_000,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const { log, flags = {} } = options;
  const { counts, ...result } = await runCases(options, {
    runCase: (seed) => runCase(seed, {}, flags.trace === undefined ? undefined : log),
    progressEvery: 500,
  });
  return { name: proof.name, ...result, facts: counts };
}
