import { ConfigMapSync } from '@bowline/configmap-sync';
import { connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import type { Measure } from '../../result.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { asWritten } from '../../support/raw-writes.ts';
import { startSubject } from '../../support/run-subject.ts';
import { createCopyNamespaces, untilNamespacesAreComplete } from './namespaces.ts';
import { bowline, type SyncScene } from './scene.ts';
import { openSync, readCopy, sourceNamespace } from './sync-run.ts';

/**
 * prepare installs the kind, creates the namespaces of the first steps, and lets the operator create its copies once, uncounted:
 * this warms the server's caches and shows the content of a copy, so that the raw loop can write the same.
 */
export async function prepare(scene: SyncScene): Promise<readonly Measure[]> {
  const { api, plan, log } = scene;
  await using client = createClient({ transport: connect(await loadKubeconfig({ paths: [scene.kubeconfig] })) });
  await installCustomResourceDefinitions(client, [ConfigMapSync]);
  log(`creating ${plan.copies} namespaces`);
  await createNamespaces(api, [sourceNamespace]);
  await createCopyNamespaces(api, { from: 0, to: plan.copies }, [1, plan.copies, ...plan.growth]);
  await untilNamespacesAreComplete(api, log);
  await using sync = await openSync(scene, plan.copies);
  await using _operator = await startSubject(bowline(scene));
  await sync.create();
  await sync.settled();
  scene.known.copy = asWritten(await readCopy(scene, sync.name));
  return [];
}
