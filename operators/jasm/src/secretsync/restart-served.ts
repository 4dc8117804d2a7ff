import { Namespace } from '@bowline/kubernetes';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';
import type { Asker } from '../pods/askers.ts';
import { targetOf } from './look.ts';
import { isThere } from './obstacles.ts';
import { needsRestart, restart, restartMark, wantsRestart } from './restart.ts';
import type { SyncWork } from './sync-secret.ts';
import type { SecretContext } from './watching.ts';

/** isRestarted is whether an asker is to be restarted when its Secret changes. */
export function isRestarted(context: SecretContext, { request }: Pick<Asker, 'request'>): boolean {
  const { get, deps } = context;
  if (!deps.config.allowRestart) return false;
  const { namespace } = targetOf(context);
  const annotations = get(Namespace, { name: namespace })?.metadata.annotations;
  return wantsRestart({
    entry: request.restart,
    namespace: annotations?.[NAMESPACE_ANNOTATIONS.restart],
    operator: deps.config.restart,
  });
}

/**
 * restartServed restarts the workloads whose pods were made before the content that the Secret has. Which those are follows from
 * the Secret and the pods, so that nothing is lost when the process ends between writing the one and restarting the others.
 */
export async function restartServed({ context, situation }: SyncWork): Promise<void> {
  const { key, live, deps, log } = context;
  const { secret, serving } = situation;
  const mark = isThere(secret) ? restartMark(secret) : undefined;
  if (!mark || !isThere(secret)) return;
  const { namespace, name } = targetOf(context);
  const { restarted } = deps.memory.of(key);
  const isServed = (request: SecretSyncRequest): boolean =>
    request.secretName === name && request.hash === serving.lead.request.hash;
  const asks = (annotation: string): boolean =>
    deps.read(annotation).requests.some((request) => isServed(request) && isRestarted(context, { request }));
  const ids = new Set(serving.served.map(({ workload }) => workload.id));
  for (const id of restarted.keys()) if (!ids.has(id)) restarted.delete(id);
  for (const asker of serving.served) {
    const { workload } = asker;
    if (restarted.get(workload.id) === mark.value || !isRestarted(context, asker)) continue;
    if (!needsRestart(asker, mark, secret)) continue;
    if (await restart(live, namespace, workload, mark, asks))
      log.info('restarted a workload', { workload: workload.id });
    restarted.set(workload.id, mark.value);
  }
}
