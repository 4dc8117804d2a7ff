import { type ControlPlane, connectClient, startControlPlane } from '@bowline/control-plane';
import {
  installCustomResourceDefinitions,
  installDependencies,
  rbacManifests,
  withConfig,
} from '@bowline/runtime/install';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { interleave } from './interleave.ts';
import { judge } from './judge.ts';
import { type Permission, permissionsIn, without } from './permissions.ts';
import { type Outcome, play } from './play.ts';
import type { Scenario } from './scenario.ts';
import { scenarios, unproved } from './scenarios.ts';

/** The number of concurrent cases: they wait more than they work. */
const CONCURRENCY = 8;

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
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
    // As on older supported servers: a cache lists before it watches, so that both permissions are used.
    apiServerFlags: ['--feature-gates=WatchList=false'],
    onProgress: options.log,
  });
  // All at once and before anything else: admission observes new kinds only every 30 s.
  await install(controlPlane);
  // If there is time for only some of them, every operator is among them.
  const chosen = scenarios.filter(({ operator }) => [undefined, operator.name].includes(options.flags?.operator));
  const all = interleave(await Promise.all(chosen.map((scenario) => casesOf(scenario, controlPlane))));
  const violations = ['operators', 'docs/examples'].flatMap(unproved).map((operator) => ({
    seed: options.seed,
    message: `the operator ${operator} has no scenario: add one to test/proofs/rbac/scenarios.ts`,
  }));
  const results: { readonly text: string; readonly outcome: Outcome; readonly isCovered: boolean }[] = [];
  const turns = new Turns();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < Math.min(options.runs, all.length) && !isOver()) {
      const seed = options.seed + next++;
      const one = all[(seed + all.length - 1) % all.length];
      if (!one) return;
      const text = describe(one);
      const began = performance.now();
      const outcome = await turns.take(one.scenario, () => playCase(one, controlPlane));
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
      kubernetes: controlPlane.version,
      operators: chosen.map(({ operator }) => operator.name),
      rights: all.filter(({ taken }) => taken).length,
      broke: results.filter(({ outcome }) => outcome.broken !== undefined).length,
      // get in addition to list: removing it has no effect.
      coveredByList: results.filter(({ isCovered, outcome }) => isCovered && !outcome.broken).map(({ text }) => text),
    },
  };
}

async function install(controlPlane: ControlPlane): Promise<void> {
  await using admin = await connectClient(await controlPlane.kubeconfig('admin'));
  await installCustomResourceDefinitions(
    admin,
    scenarios.flatMap(({ operator }) => operator.resources),
  );
  for (const { operator, prepare } of scenarios) {
    await installDependencies(admin, operator);
    await prepare?.(admin);
  }
}

/** Turns lets the runs of an exclusive scenario wait for each other. */
class Turns {
  readonly #last = new Map<Scenario, Promise<unknown>>();

  take<T>(scenario: Scenario, work: () => Promise<T>): Promise<T> {
    if (!scenario.isExclusive) return work();
    const turn = (this.#last.get(scenario) ?? Promise.resolve()).then(work);
    this.#last.set(
      scenario,
      turn.catch(() => undefined),
    );
    return turn;
  }
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
