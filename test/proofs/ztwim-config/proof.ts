import { seededRandom } from '@bowline/machinery';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { type Cases, runCases } from '../run-cases.ts';
import { withCluster } from './cluster-cases.ts';
import { judge, type Verdict, withoutParts } from './judge.ts';
import { type Case, randomCase } from './random-case.ts';

/** proof checks that the shared configuration follows from the five objects alone, and that admission agrees with it. */
export const proof: Proof = {
  name: 'ztwim-config',
  summary:
    'shared values of ZTWIM: the result follows from the final objects, in any order of events, and admission refuses what controllers would hold (--cluster true: 200 cases with the operator on the embedded control plane)',
  defaultRuns: 100_000,
  run,
};

/** Each half of them with webhooks, and without. */
const CLUSTER_CASES = 200;

async function run(options: ProofOptions): Promise<ProofResult> {
  const { counts, ...result } = await runCases(options, {
    runCase: (seed) => Promise.resolve(playCase(seed)),
    progressEvery: 10_000,
  });
  const onCluster = options.flags?.cluster === undefined ? undefined : await runOnCluster(options);
  return {
    name: proof.name,
    ...result,
    violations: [...result.violations, ...(onCluster?.violations ?? [])],
    facts: { ...counts, ...(onCluster && { casesOnCluster: onCluster.runs }) },
  };
}

/** runOnCluster plays the first of the cases on the embedded control plane. */
function runOnCluster(options: ProofOptions): Promise<Cases> {
  const runs = Math.min(options.runs, CLUSTER_CASES);
  const half = options.seed + Math.ceil(runs / 2);
  return withCluster((cases) =>
    runCases(
      { ...options, runs },
      {
        runCase: async (seed) => {
          if (seed === half) await cases.removeWebhooks();
          return { violations: await cases.play(seed, seed < half), counts: {} };
        },
        progressEvery: 20,
      },
    ),
  );
}

function playCase(seed: number) {
  const random = seededRandom(seed);
  const generated = randomCase(random);
  const play = (one: Case): Verdict => judge(one, seededRandom(seed));
  const verdict = play(generated);
  if (verdict.problems.length === 0) return { violations: [], counts: verdict.counts };
  const smallest = shrink(generated, (one) => play(one).problems.length > 0);
  const violations = play(smallest).problems.map((problem) => `${problem} <- ${JSON.stringify(smallest)}`);
  return { violations, counts: verdict.counts };
}

/** shrink removes parts of a case while it still fails. */
function shrink(one: Case, fails: (one: Case) => boolean): Case {
  const smaller = withoutParts(one).find(fails);
  return smaller ? shrink(smaller, fails) : one;
}
