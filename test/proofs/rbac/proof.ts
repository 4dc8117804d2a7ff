import type { ControlPlane } from '@bowline/control-plane';
import { rbacManifests, withConfig } from '@bowline/runtime/install';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { ControlPlanes } from './control-planes.ts';
import { interleave } from './interleave.ts';
import { judge } from './judge.ts';
import { type Permission, permissionsIn, without } from './permissions.ts';
import { type Outcome, play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { scenarios, unproved } from './scenarios.ts';

/** The number of concurrent cases: they wait more than they work. */
const CONCURRENCY = 8;

/** The number of control planes of a run without a time limit: the cases of an exclusive scenario run one after the other on each. */
const MAX_CONTROL_PLANES = 3;

/** A scenario with all permissions of its operator, or without one of them. */
interface Case {
  readonly scenario: Scenario;
  readonly taken: Permission | undefined;
}

/**
 * Every operator with a scenario works with exactly its generated permissions, and fails at some point of its scenario when any
 * single one of them is removed.
 */
export const proof: Proof = {
  name: 'rbac',
  summary:
    'removing any single generated permission of an operator breaks it; with all of them it works (--operator NAME: one operator)',
  defaultRuns: 1_000,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const isOver = (): boolean => options.seconds !== undefined && performance.now() - startedAt > options.seconds * 1000;
  await using controlPlanes = await ControlPlanes.start(
    options.seconds === undefined ? MAX_CONTROL_PLANES : 1,
    options.log,
  );
  const { shared } = controlPlanes;
  // If there is time for only some of them, every operator is among them.
  const chosen = scenarios.filter(({ operator }) => [undefined, operator.name].includes(options.flags?.operator));
  const all = interleave(await Promise.all(chosen.map((scenario) => casesOf(scenario, shared))));
  const violations = ['operators', 'docs/examples'].flatMap(unproved).map((operator) => ({
    seed: options.seed,
    message: `the operator ${operator} has no scenario: add one to test/proofs/rbac/scenarios.ts`,
  }));
  const results: { readonly text: string; readonly outcome: Outcome; readonly isCovered: boolean }[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < Math.min(options.runs, all.length) && !isOver()) {
      const seed = options.seed + next++;
      const one = all[(seed + all.length - 1) % all.length];
      if (!one) return;
      const text = describe(one);
      const began = performance.now();
      const outcome = await controlPlanes.use(one.scenario, (controlPlane) => playCase(one, controlPlane));
      const problem = judge(one.taken, outcome);
      const isCovered = one.taken?.isCovered ?? false;
      results.push({ text, outcome, isCovered });
      if (problem) violations.push({ seed, message: `${text}: ${problem}` });
      const found = problem ? `VIOLATED: ${problem}` : (outcome.broken ?? 'works');
      options.log(`${seed}: ${text}: ${found} (${Math.round(performance.now() - began)} ms)`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return {
    name: 'rbac',
    runs: results.length,
    seed: options.seed,
    violations,
    facts: {
      kubernetes: shared.version,
      operators: chosen.map(({ operator }) => operator.name),
      rights: all.filter(({ taken }) => taken).length,
      broke: results.filter(({ outcome }) => outcome.broken !== undefined).length,
      // get in addition to list: removing it has no effect.
      coveredByList: results.filter(({ isCovered, outcome }) => isCovered && !outcome.broken).map(({ text }) => text),
    },
  };
}

/** All permissions of an operator first: a scenario that does not work at all is detected immediately. */
async function casesOf(scenario: Scenario, controlPlane: ControlPlane): Promise<readonly Case[]> {
  const performance = await scenario.open(controlPlane);
  const operator = await withConfig(scenario.operator, performance.config);
  await performance[Symbol.asyncDispose]?.();
  // The names differ between installations, the permissions do not. Roles are in the order of their namespaces, so that of
  // the manager begins as in the test rig.
  const rights = permissionsIn(rbacManifests(operator, { namespace: 'manager' }));
  return [{ scenario, taken: undefined }, ...rights.map((taken) => ({ scenario, taken }))];
}

function playCase({ scenario, taken }: Case, controlPlane: ControlPlane): Promise<Outcome> {
  const modifyRbac = taken && ((manifests: Parameters<typeof without>[0]) => without(manifests, taken));
  return play(scenario, { controlPlane, modifyRbac, permission: taken?.text });
}

function describe({ scenario: { operator }, taken }: Case): string {
  return taken ? `${operator.name} without ${taken.text}` : `${operator.name} with all its permissions`;
}
