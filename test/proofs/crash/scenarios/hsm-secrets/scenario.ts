import type { CrashScenario, Stage, World } from '../../scenario.ts';
import { actions, DeviceCase } from './device-case.ts';
import { config, operator } from './operator.ts';
import { makeBystanders, makeNamespaces, untilNeighbourIsServed } from './world.ts';

const DEVICES = 60;
const FEW_DEVICES = 15;

/** scenario kills the operator while HSMDevices are created, suspended and deleted, and while their reports change. */
export const scenario: CrashScenario = { operator, config, actions, open };

async function open({ cluster, isShort, log }: Stage): Promise<World> {
  const { admin } = cluster;
  const devices = isShort ? FEW_DEVICES : DEVICES;
  if (isShort) log(`short run: ${devices} HSMDevices instead of ${DEVICES}`);
  await makeNamespaces(admin);
  await makeBystanders(admin);
  return {
    facts: { devices, ...(isShort ? { scaledDownFrom: DEVICES } : {}) },
    settled: () => untilNeighbourIsServed(admin),
    begin: (action, seed) => DeviceCase.begin({ admin, devices, action, name: `case-${seed}` }),
  };
}
