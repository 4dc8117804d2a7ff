import fc from 'fast-check';
import {
  type GeneratedInputs,
  generatedInputs,
  renderAll,
} from '../../../operators/ztwim/src/testing/generated-inputs.test-support.ts';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { type CaseOutcome, runCases } from '../run-cases.ts';
import { filesOf, judge } from './judge.ts';
import { openPrograms, type Programs } from './programs.ts';

/** The programs of this many cases run at the same time. */
const CONCURRENCY = 2;

/** proof checks that valid specs are rendered to files that SPIRE accepts, with every value in its place. */
export const proof: Proof = {
  name: 'ztwim-render',
  summary:
    'rendered objects of random valid ZTWIM specs: SPIRE accepts the files, each value is in its place, all references resolve',
  defaultRuns: 500,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const validation = await openPrograms(options.log);
  if ('skippedBecause' in validation) {
    const result = await runAll(options, undefined);
    return { ...result, facts: { ...result.facts, programsSkipped: validation.skippedBecause } };
  }
  await using programs = validation;
  const result = await runAll(options, programs);
  return { ...result, facts: { ...result.facts, filesChecked: programs.checked } };
}

async function runAll(options: ProofOptions, programs: Programs | undefined): Promise<ProofResult> {
  const { counts, ...result } = await runCases(options, {
    runCase: (seed) => runCase(seed, programs),
    progressEvery: 50,
    concurrency: CONCURRENCY,
  });
  return { name: proof.name, ...result, facts: counts };
}

async function runCase(seed: number, programs: Programs | undefined): Promise<CaseOutcome> {
  const isWrong = async (inputs: GeneratedInputs): Promise<readonly string[]> => {
    const problems = judge(inputs);
    return [...problems, ...((await programs?.problems(filesOf(renderAll(inputs)))) ?? [])];
  };
  const property = fc.asyncProperty(generatedInputs, async (inputs) => (await isWrong(inputs)).length === 0);
  const { counterexample } = await fc.check(property, { seed, numRuns: 1 });
  if (!counterexample) return { violations: [], counts: { installations: 1 } };
  // The smallest installation with a problem.
  const [inputs] = counterexample;
  const problems = await isWrong(inputs);
  return {
    violations: problems.map((problem) => `${problem} <- ${JSON.stringify(inputs)}`),
    counts: { installations: 1 },
  };
}
