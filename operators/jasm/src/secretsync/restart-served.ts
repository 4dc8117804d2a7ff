import { Namespace } from '@bowline/kubernetes';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';
import type { Asker } from '../pods/askers.ts';
import { targetOf } from './look.ts';
import { isThere } from './obstacles.ts';
import { needsRestart, restart, restartMark, wantsRestart } from './restart.ts';
import type { SyncWork } from './sync-secret.ts';
import type { SecretContext } from './watching.ts';

/** isRestarted reports whether a workload must be restarted when its Secret changes. */
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
 * restartServed restarts the workloads whose pods were created before the current content of the Secret. They are
 * derived from the Secret and the pods, so nothing is lost if the process ends between writing the Secret and
 * restarting the workloads. It returns the delay until the next recently restarted workload may be restarted again, or
 * undefined if none waits.
 */
export async function restartServed({ context, situation }: SyncWork): Promise<number | undefined> {
  const { key, live, deps, log, clock } = context;
  const { secret, serving, now } = situation;
  const mark = isThere(secret) ? restartMark(secret) : undefined;
  if (!mark || !isThere(secret)) return undefined;
  const { namespace, name } = targetOf(context);
  const { restarted } = deps.memory.of(key);
  const isServed = (request: SecretSyncRequest): boolean =>
    request.secretName === name && request.hash === serving.lead.request.hash;
  const asks = (annotation: string): boolean =>
    deps.read(annotation).requests.some((request) => isServed(request) && isRestarted(context, { request }));
  const ids = new Set(serving.served.map(({ workload }) => workload.id));
  for (const id of restarted.keys()) if (!ids.has(id)) restarted.delete(id);
  const limits = { now: clock.now(), intervalMs: deps.settings.restartIntervalMs };
  const waits: number[] = [];
  for (const asker of serving.served) {
    const { workload } = asker;
    const before = restarted.get(workload.id);
    const againInMs = before?.value === mark.value ? (before.againAt ?? Number.POSITIVE_INFINITY) - now : 0;
    if (againInMs === Number.POSITIVE_INFINITY || !isRestarted(context, asker)) continue;
    if (!needsRestart(asker, mark, secret)) continue;
    const done = againInMs > 0 ? { inMs: againInMs } : await restart(live, { namespace, workload }, mark, asks, limits);
    if (done === 'restarted') log.info('restarted a workload', { workload: workload.id });
    const againAt = typeof done === 'object' ? now + done.inMs : undefined;
    restarted.set(workload.id, { value: mark.value, againAt });
    if (typeof done === 'object') waits.push(done.inMs);
  }
  return waits.length === 0 ? undefined : Math.min(...waits);
}
