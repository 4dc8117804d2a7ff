import { startGitServer } from '../../../../support/git/git-server.ts';
import type { CrashScenario, Stage, World } from '../../scenario.ts';
import { config, operator } from './operator.ts';
import { actions, RolloutCase } from './rollout-case.ts';
import { makeBystanders, makeNamespaces, untilNeighbourIsServed } from './world.ts';

const SYNCS = 24;
const FEW_SYNCS = 6;

/** scenario kills the operator while it resolves refs, rolls commits out, follows rollbacks, and deletes IgnitionSyncs. */
export const scenario: CrashScenario = { operator, config, actions, open };

async function open({ cluster, isShort, log }: Stage): Promise<World> {
  const { admin } = cluster;
  const syncs = isShort ? FEW_SYNCS : SYNCS;
  if (isShort) log(`short run: ${syncs} IgnitionSyncs instead of ${SYNCS}`);
  const git = await startGitServer({ plain: true });
  cluster.onDispose(async () => await git[Symbol.asyncDispose]());
  await makeNamespaces(admin);
  await makeBystanders(admin, git);
  return {
    facts: { ignitionSyncs: syncs, ...(isShort ? { scaledDownFrom: SYNCS } : {}) },
    settled: () => untilNeighbourIsServed(admin),
    begin: (action, seed) => RolloutCase.begin({ admin, git, syncs, action, name: `case-${seed}` }),
  };
}
