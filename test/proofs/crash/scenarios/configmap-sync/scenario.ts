import { ConfigMapSync } from '@bowline/configmap-sync';
import { findCondition } from '@bowline/runtime';
import type { CrashScenario, Stage, World } from '../../scenario.ts';
import { config, operator } from './operator.ts';
import { actions, SyncCase } from './sync-case.ts';
import { makeBystanders, makeNamespaces, NEIGHBOUR } from './world.ts';

const COPIES = 1_000;
const FEW_COPIES = 100;

/** scenario kills ConfigMapSync while it creates, changes, deletes and releases the copies of one source. */
export const scenario: CrashScenario = {
  operator,
  config,
  actions,
  open,
};

async function open({ cluster, isShort, log }: Stage): Promise<World> {
  const { admin } = cluster;
  const copies = isShort ? FEW_COPIES : COPIES;
  if (isShort) log(`short run: ${copies} copies instead of ${COPIES}`);
  const namespaces = await makeNamespaces(admin, copies);
  await makeBystanders(admin, namespaces);
  log(`${copies} namespaces are ready`);
  return {
    facts: { copies, ...(isShort ? { scaledDownFrom: COPIES } : {}) },
    async settled() {
      const isReady = (sync: ConfigMapSync): boolean => findCondition(sync, 'Ready')?.status === 'True';
      await cluster.until(ConfigMapSync, NEIGHBOUR, isReady, { timeoutMs: 60_000 });
    },
    begin: (action, seed) => SyncCase.begin({ admin, namespaces, action, name: `case-${seed}` }),
  };
}
