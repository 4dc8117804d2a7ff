import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, createClient, loadKubeconfig } from '@bowline/runtime/client';
import { ztwim } from '@bowline/ztwim';
import { installOperator } from '../../../test/support/install-operator.ts';
import type { Measure } from '../../result.ts';
import type { RawRequest } from '../../support/raw-request.ts';
import { changeClusterName } from './cascade-run.ts';
import { clusterNameAt, createFive } from './five-objects.ts';
import { uninstall } from './installed.ts';
import { watchChildren } from './object-watch.ts';
import { keyOf, writesChild } from './recorded-writes.ts';
import { MANAGER_NAMESPACE, OPERAND_NAMESPACE, type ZtwimScene } from './scene.ts';
import { createWebhooks, freePort } from './webhooks.ts';
import { type RunningZtwim, runZtwim } from './ztwim-run.ts';

const timeoutMs = 180_000;

/**
 * prepare installs the operator with exactly its permissions, and lets it install everything and change the cluster name once,
 * uncounted: this warms the server's caches, and shows what the operator writes, so that the bare programs can write the same.
 */
export async function prepare(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { api, known, cluster } = scene;
  await using admin = createClient({ transport: connect(await loadKubeconfig({ paths: [scene.kubeconfig] })) });
  const place = { namespace: MANAGER_NAMESPACE, admin, kubeconfig: cluster.kubeconfigFor };
  known.kubeconfig = join(scene.folder, 'ztwim.kubeconfig');
  writeFileSync(known.kubeconfig, JSON.stringify(await installOperator(place, ztwim, {})), { mode: 0o600 });
  known.webhookPort = await freePort();
  await createWebhooks(scene);
  await using operator = await runZtwim(scene, { observe: 'writes' });
  await untilCalled(scene);
  scene.log('the first install, which waits until the API server accepts the new kinds as owners');
  await createFive(api);
  await untilInstalled(scene);
  await operator.settled();
  known.writes = { children: onePerObject((await operator.writes()).filter(writesChild)), cascade: [] };
  known.writes = { ...known.writes, cascade: await recordCascade(scene, operator) };
  await uninstall(scene, operator);
  return [];
}

/** onePerObject returns the last write of each object: those before failed. */
function onePerObject(writes: readonly RawRequest[]): readonly RawRequest[] {
  return [...new Map(writes.map((write) => [keyOf(write), write])).values()];
}

/** untilCalled waits until the operator has written its CA into the configurations of its webhooks. */
async function untilCalled({ api }: ZtwimScene): Promise<void> {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/bowline-ztwim';
  await until('the CA of the webhooks', async () => (await api.ok('GET', path)).includes('"caBundle"'));
}

/** untilInstalled waits for the last objects of the operands. */
async function untilInstalled({ api }: ZtwimScene): Promise<void> {
  const apps = `/apis/apps/v1/namespaces/${OPERAND_NAMESPACE}`;
  const core = `/api/v1/namespaces/${OPERAND_NAMESPACE}`;
  for (const path of [
    `${apps}/statefulsets/spire-server`,
    `${apps}/daemonsets/spire-agent`,
    `${apps}/daemonsets/spire-spiffe-csi-driver`,
    `${apps}/deployments/spire-spiffe-oidc-discovery-provider`,
    `${core}/configmaps/spire-bundle`,
    `${core}/secrets/oidc-serving-cert`,
  ]) {
    await until(path, async () => (await api.request('GET', path)).status === 200);
  }
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await pause(50);
  }
}

/** recordCascade returns the writes of a change up to the last ConfigMap and template; the status follows them. */
async function recordCascade(scene: ZtwimScene, operator: RunningZtwim): Promise<readonly RawRequest[]> {
  using watch = await watchChildren(scene);
  await changeClusterName(scene, watch, clusterNameAt(1));
  await operator.settled();
  const writes = (await operator.writes()).filter(
    ({ path }) => !path.includes('dryRun=') && !path.includes('/events') && !path.includes('/status'),
  );
  return writes;
}
