import { ConfigMapSync } from '@bowline/configmap-sync';
import { findCondition } from '@bowline/runtime';
import type { CrashScenario, Stage, World } from '../../scenario.ts';
import { config, operator } from './operator.ts';
import { deeds, SyncCase } from './sync-case.ts';
import { makeBystanders, makeNamespaces, NEIGHBOUR } from './world.ts';

const COPIES = 1_000;
const FEW_COPIES = 100;

/** scenario kills ConfigMapSync while it makes, changes, deletes and lets go the copies of one source. */
export const scenario: CrashScenario = {
  operator,
  config,
  deeds,
  open,
};

async function open({ cluster, isShort, log }: Stage): Promise<World> {
  const { admin } = cluster;
  const copies = isShort ? FEW_COPIES : COPIES;
  if (isShort) log(`there is little time: ${copies} copies instead of ${COPIES}`);
  const namespaces = await makeNamespaces(admin, copies);
  await makeBystanders(admin, namespaces);
  log(`${copies} namespaces are ready`);
  return {
    facts: { copies, ...(isShort ? { scaledDownFrom: COPIES } : {}) },
    async settled() {
      const isReady = (sync: ConfigMapSync): boolean => findCondition(sync, 'Ready')?.status === 'True';
      await cluster.until(ConfigMapSync, NEIGHBOUR, isReady, { timeoutMs: 60_000 });
    },
    begin: (deed, seed) => SyncCase.begin({ admin, namespaces, deed, name: `case-${seed}` }),
  };
}
