import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jasm } from '@bowline/jasm';
import { connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import { installOperator } from '../../../test/support/install-operator.ts';
import type { Measure } from '../../result.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { asWritten } from '../../support/raw-writes.ts';
import { untilPodsCanBeCreated } from '../../support/until-pods-can-be-created.ts';
import { initial } from './first-sync-run.ts';
import { runJasm } from './jasm-run.ts';
import { ensurePods, namespaces, podAt, putSources, sourcesOf } from './pods.ts';
import { config, type JasmScene } from './scene.ts';
import { clearSecrets, revision, watchSecrets } from './secrets.ts';

/** As in `runOperator`. */
const managerNamespace = 'default';

/**
 * prepare installs the operator with exactly its permissions, fills the store, and lets it create all Secrets once, uncounted:
 * this warms the server's caches and shows the content of a Secret, so that the raw loop can write the same.
 */
export async function prepare(scene: JasmScene): Promise<readonly Measure[]> {
  const { api, plan, known, cluster } = scene;
  await using admin = createClient({ transport: connect(await loadKubeconfig({ paths: [scene.kubeconfig] })) });
  const place = { namespace: managerNamespace, admin, kubeconfig: cluster.kubeconfigFor };
  known.kubeconfig = join(scene.folder, 'jasm.kubeconfig');
  writeFileSync(known.kubeconfig, JSON.stringify(await installOperator(place, jasm, config)), { mode: 0o600 });
  putSources(scene, sourcesOf(Math.max(plan.pods, ...plan.growth)), initial);
  await createNamespaces(api, namespaces);
  await untilPodsCanBeCreated(api, namespaces);
  await ensurePods(scene, plan.pods);
  using watch = await watchSecrets(scene);
  await using operator = await runJasm(scene);
  await watch.reached(revision(initial), plan.pods);
  await operator.settled(plan.pods, plan.pods);
  const { namespace, secretName } = podAt(0);
  const secret = asWritten(await api.ok('GET', `/api/v1/namespaces/${namespace}/secrets/${secretName}`));
  known.secret = secret;
  known.secretBytes = JSON.stringify(secret).length;
  await operator[Symbol.asyncDispose]();
  await clearSecrets(scene);
  return [];
}
