import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';
import type { Scenario } from './scenario.ts';
import { configMapSyncScenario } from './scenarios/configmap-sync.ts';
import { copyScenario } from './scenarios/copy.ts';
import { fleetScenario } from './scenarios/fleet.ts';
import { greeterScenario } from './scenarios/greeter.ts';
import { hsmSecretsScenario } from './scenarios/hsm-secrets.ts';
import { ignitionSyncScenario } from './scenarios/ignition-sync.ts';
import { jasmScenario } from './scenarios/jasm.ts';
import { lockerScenario } from './scenarios/locker.ts';
import { parcelsScenario } from './scenarios/parcels.ts';
import { previewScenario } from './scenarios/preview.ts';
import { securedServicesScenario } from './scenarios/secured-services.ts';
import { shopScenario } from './scenarios/shop.ts';
import { ztwimScenario } from './scenarios/ztwim.ts';

/**
 * scenarios are those of every operator whose permissions are checked. Scenarios without an owner come first: the others wait for
 * their kinds.
 */
export const scenarios: readonly Scenario[] = [
  copyScenario,
  lockerScenario,
  configMapSyncScenario,
  jasmScenario,
  greeterScenario,
  previewScenario,
  shopScenario,
  fleetScenario,
  hsmSecretsScenario,
  ignitionSyncScenario,
  securedServicesScenario,
  parcelsScenario,
  ztwimScenario,
];

/** unproved returns the operators exported by a folder that have no scenario: `name in file`. */
export function unproved(folder: string): readonly string[] {
  const proved = new Set(scenarios.map(({ operator }) => operator.name));
  return sourceFiles(folder, '.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      operatorsIn(readFileSync(join(repositoryRoot, file), 'utf8'))
        .filter((name) => !proved.has(name))
        .map((name) => `${name} in ${file}`),
    );
}

/** operatorsIn returns the names of the operators that a source text defines and exports. */
export function operatorsIn(source: string): readonly string[] {
  return [...source.matchAll(/export const \w+(?:: Operator)? = defineOperator\(\{\s*name: '([^']+)'/g)].map(
    ([, name = '']) => name,
  );
}
