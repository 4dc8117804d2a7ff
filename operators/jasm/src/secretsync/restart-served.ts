import { Namespace } from '@bowline/kubernetes';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';
import type { Requester } from '../pods/requesters.ts';
import type { SecretContext } from './controller.ts';
import { targetOf } from './observed-secret.ts';
import { isKnown } from './obstacles.ts';
import { isRestartEnabled, needsRestart, restart, restartAnnotationFor } from './restart.ts';
import type { SyncWork } from './sync-secret.ts';

/** isRestartedOnChange reports whether a workload must be restarted when its Secret changes. */
export function isRestartedOnChange(context: SecretContext, { request }: Pick<Requester, 'request'>): boolean {
  const { get, deps } = context;
  if (!deps.config.allowRestart) return false;
  const { namespace } = targetOf(context);
  const annotations = get(Namespace, { name: namespace })?.metadata.annotations;
  return isRestartEnabled({
    entry: request.restart,
    namespace: annotations?.[NAMESPACE_ANNOTATIONS.restart],
    operator: deps.config.restart,
  });
}

/**
 * restartServed restarts the workloads whose pods were created before the current content of the Secret. They are
 * derived from the Secret and the pods, so nothing is lost if the process ends between writing the Secret and
 * restarting the workloads. It returns the delay until the next recently restarted workload may be restarted again, or
 * undefined if none waits.
 */
export async function restartServed({ context, situation }: SyncWork): Promise<number | undefined> {
  const { key, live, deps, log, clock } = context;
  const { secret, serving, now } = situation;
  const restartAnnotation = isKnown(secret) ? restartAnnotationFor(secret) : undefined;
  if (!restartAnnotation || !isKnown(secret)) return undefined;
  const { namespace, name } = targetOf(context);
  const { restarted } = deps.memory.of(key);
  const isServed = (request: SecretSyncRequest): boolean =>
    request.secretName === name && request.hash === serving.lead.request.hash;
  const isRestartRequested = (annotation: string): boolean =>
    deps
      .parseAnnotation(annotation)
      .requests.some((request) => isServed(request) && isRestartedOnChange(context, { request }));
  const ids = new Set(serving.served.map(({ workload }) => workload.id));
  for (const id of restarted.keys()) if (!ids.has(id)) restarted.delete(id);
  const limits = { now: clock.now(), intervalMs: deps.settings.restartIntervalMs };
  const waits: number[] = [];
  for (const requester of serving.served) {
    const { workload } = requester;
    const before = restarted.get(workload.id);
    const againInMs =
      before?.value === restartAnnotation.value ? (before.againAt ?? Number.POSITIVE_INFINITY) - now : 0;
    if (againInMs === Number.POSITIVE_INFINITY || !isRestartedOnChange(context, requester)) continue;
    if (!needsRestart(requester, restartAnnotation, secret)) continue;
    const done =
      againInMs > 0
        ? { inMs: againInMs }
        : await restart(live, { namespace, workload }, restartAnnotation, isRestartRequested, limits);
    if (done === 'restarted') log.info('restarted a workload', { workload: workload.id });
    const againAt = typeof done === 'object' ? now + done.inMs : undefined;
    restarted.set(workload.id, { value: restartAnnotation.value, againAt });
    if (typeof done === 'object') waits.push(done.inMs);
  }
  return waits.length === 0 ? undefined : Math.min(...waits);
}
