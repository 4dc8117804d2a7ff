import type { CrashScenario, Stage, World } from '../../scenario.ts';
import { config, operator } from './operator.ts';
import { actions, SecretCase } from './secret-case.ts';
import { Store } from './store.ts';
import { makeBystanders, makeNamespaces, untilNeighbourIsServed } from './world.ts';

const PODS = 200;
const FEW_PODS = 60;

/** scenario kills JASM while it creates, changes and deletes the Secrets that pods request. */
export const scenario: CrashScenario = {
  operator,
  config,
  actions,
  open,
};

async function open({ cluster, isShort, log }: Stage): Promise<World> {
  const { admin, controlPlane } = cluster;
  const pods = isShort ? FEW_PODS : PODS;
  if (isShort) log(`short run: ${pods} pods instead of ${PODS}`);
  const store = new Store(admin, controlPlane, cluster.namespace);
  await makeNamespaces(admin);
  await makeBystanders(admin, store);
  return {
    facts: { pods, ...(isShort ? { scaledDownFrom: PODS } : {}) },
    settled: () => untilNeighbourIsServed(admin),
    begin: (action, seed) => SecretCase.begin({ admin, store, pods, action, name: `case-${seed}` }),
  };
}
