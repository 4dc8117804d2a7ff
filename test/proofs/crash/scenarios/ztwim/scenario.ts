import type { CrashScenario, Stage, World } from '../../scenario.ts';
import { actions, InstallationCase } from './installation-case.ts';
import { config, operator } from './operator.ts';
import { makeBystanders, untilAuthorityExists } from './world.ts';

/** scenario kills the operator while SPIRE is installed, gets another identity, is migrated, and is deleted. */
export const scenario: CrashScenario = { operator, config, actions, open };

async function open({ cluster }: Stage): Promise<World> {
  const { admin, namespace } = cluster;
  await makeBystanders(admin);
  return {
    facts: {},
    settled: () => untilAuthorityExists(admin, namespace),
    begin: (action) => InstallationCase.begin({ admin, action }),
  };
}
