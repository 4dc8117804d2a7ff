import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ignitionSync } from '@bowline/ignition-sync';
import { connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import { installOperator } from '../../../test/support/install-operator.ts';
import type { Measure } from '../../result.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { installProgram } from '../../support/installed-program.ts';
import { gitSyncPeer } from '../../support/peers.ts';
import { untilPodsCanBeCreated } from '../../support/until-pods-can-be-created.ts';
import { AGENT_NAMESPACE } from './gateway.ts';
import { operatorConfig } from './operator-run.ts';
import { createPlant } from './plant-repository.ts';
import { ensureRsync } from './rsync.ts';
import { type IgnitionScene, MANAGER_NAMESPACE } from './scene.ts';

/** prepare installs the operator with exactly its permissions, creates the repository, and installs what it is compared with. */
export async function prepare(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { api, known, cluster, plan, log } = scene;
  await using admin = createClient({ transport: connect(await loadKubeconfig({ paths: [scene.kubeconfig] })) });
  const place = { namespace: MANAGER_NAMESPACE, admin, kubeconfig: cluster.kubeconfigFor };
  const kubeconfig = await installOperator(place, ignitionSync, operatorConfig(0));
  known.kubeconfig = join(scene.folder, 'ignition-sync.kubeconfig');
  writeFileSync(known.kubeconfig, JSON.stringify(kubeconfig), { mode: 0o600 });
  await createNamespaces(api, [AGENT_NAMESPACE]);
  await untilPodsCanBeCreated(api, [AGENT_NAMESPACE]);
  known.program = await installProgram(join(scene.folder, 'program'));
  known.rsync = await ensureRsync(log);
  known.gitSync = await gitSyncPeer(log);
  const { files, megabytes } = plan.repository;
  log(`creating a repository of ${files} files, ${megabytes} MB`);
  known.plant = await createPlant(scene.git, 'plant.git', plan.repository);
  return [];
}
