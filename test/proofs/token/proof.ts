import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { ensurePkcs11js } from '../../support/pkcs11js/ensure-pkcs11js.ts';
import { ensureSoftHsm } from '../../support/softhsm/ensure-softhsm.ts';
import { CaseProcesses } from '../case-processes.ts';
import { runCases } from '../run-cases.ts';
import type { TokenCase } from './case-child.ts';

/** proof checks that no crash mixes or loses the contents of a token, and that no wrong PIN is tried twice. */
export const proof: Proof = {
  name: 'token',
  summary:
    'HSM secrets under crashes at any call of a token: old or new content, nothing left over, no second wrong PIN',
  defaultRuns: 500,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const { log } = options;
  // Installed once, before the time counts.
  await ensureSoftHsm(log);
  await ensurePkcs11js(log);
  const cases: Record<string, number> = {};
  let skipped: string | undefined;
  await using processes = new CaseProcesses<TokenCase>(new URL('./case-child.ts', import.meta.url));
  const runCase = async (seed: number) => {
    const { kinds, skippedBecause, ...outcome } = await processes.run(seed);
    skipped = skippedBecause;
    for (const kind of kinds) cases[kind] = (cases[kind] ?? 0) + 1;
    return outcome;
  };
  const { concurrency } = processes;
  const { counts, ...result } = await runCases(options, { runCase, concurrency, progressEvery: 100 });
  if (skipped !== undefined) log(`only tokens in memory: ${skipped}`);
  return { name: proof.name, ...result, facts: { cases, ...(skipped === undefined ? {} : { skipped }), counts } };
}
