import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hsmSecrets } from '@bowline/hsm-secrets';
import { connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import { installOperator } from '../../../test/support/install-operator.ts';
import type { Measure } from '../../result.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { untilPodsCanBeCreated } from '../../support/until-pods-can-be-created.ts';
import { createFleet, ensurePods, FLEET_NAMESPACE, fleetPod, readFleet } from './fleet.ts';
import { runHsm } from './hsm-run.ts';
import { watchPool } from './pool-watch.ts';
import { config, type HsmScene } from './scene.ts';
import { VAULT_NAMESPACE } from './vault.ts';

/** As in `runOperator`. */
const managerNamespace = 'default';

/**
 * prepare installs the operator with exactly its permissions and its admission policies, creates the pods, and lets the operator
 * aggregate their reports once, uncounted: this warms the server's caches.
 */
export async function prepare(scene: HsmScene): Promise<readonly Measure[]> {
  const { api, plan, known, cluster } = scene;
  await using admin = createClient({ transport: connect(await loadKubeconfig({ paths: [scene.kubeconfig] })) });
  const place = { namespace: managerNamespace, admin, kubeconfig: cluster.kubeconfigFor };
  known.kubeconfig = join(scene.folder, 'hsm.kubeconfig');
  writeFileSync(known.kubeconfig, JSON.stringify(await installOperator(place, hsmSecrets, config)), { mode: 0o600 });
  await createNamespaces(api, [FLEET_NAMESPACE, VAULT_NAMESPACE]);
  await untilPodsCanBeCreated(api, [FLEET_NAMESPACE, VAULT_NAMESPACE]);
  await createFleet(scene);
  {
    await using operator = await runHsm(scene);
    await readFleet(scene);
    await operator.settled();
  }
  await ensurePods(scene, plan.pods);
  const pod = JSON.parse(await api.ok('GET', `/api/v1/namespaces/${FLEET_NAMESPACE}/pods/${fleetPod().name}`)) as {
    metadata: { managedFields?: unknown };
  };
  pod.metadata.managedFields = undefined;
  known.podBytes = JSON.stringify(pod).length;
  using watch = await watchPool(scene, FLEET_NAMESPACE);
  await using operator = await runHsm(scene);
  await watch.until(({ phase, availableDevices }) => phase === 'Ready' && availableDevices === plan.pods);
  await operator.settled();
  return [];
}
