import { connectClient, startControlPlane } from '@bowline/control-plane';
import { seededRandom } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { CASES_PER_BATCH, knownDifferences, runBatch, type Tally } from './batch.ts';

/** proof checks that our validator agrees with the real API server. */
export const proof: Proof = {
  name: 'schema',
  summary:
    'random schemas and values: our decision, fields, reasons, messages and stored values compared with the real API server',
  defaultRuns: 2400,
  run,
};

async function run({ runs, seed, seconds, log }: ProofOptions): Promise<ProofResult> {
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1000;
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
  });
  await using client: Client = await connectClient(await controlPlane.kubeconfig('admin'));
  const tally: Tally = {
    cases: 0,
    creates: 0,
    updates: 0,
    refused: 0,
    accepted: 0,
    schemas: 0,
    refusedSchemas: 0,
    brokenSchemas: 0,
    known: {},
    violations: [],
  };
  for (let batch = 0; tally.cases < runs && performance.now() < deadline; batch++) {
    await runBatch({ client, random: seededRandom(seed + batch), seed: seed + batch, tally, most: runs - tally.cases });
    log(`${tally.cases} of ${runs} cases on ${tally.schemas} schemas, ${tally.violations.length} violations`);
  }
  const { violations, cases, ...facts } = tally;
  return {
    name: proof.name,
    runs: cases,
    seed,
    violations,
    facts: { ...facts, casesPerBatch: CASES_PER_BATCH, server: controlPlane.version, knownDifferences },
  };
}
