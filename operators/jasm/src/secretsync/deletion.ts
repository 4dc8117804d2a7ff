import { Pod } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import type { SecretContext } from './controller.ts';
import { targetOf } from './observed-secret.ts';
import { planUnrequested } from './plan-unrequested.ts';
import { secrets } from './secrets.ts';

/**
 * deleteUnrequested handles a Secret that no pod requests: it keeps the Secret unless all its requesters set
 * deletionPolicy Delete.
 */
export async function deleteUnrequested(context: SecretContext): Promise<ReconcileResult> {
  const { key, deps, clock, get, list, release, log } = context;
  const target = targetOf(context);
  const secret = get('managed', target);
  deps.metrics.setManaged(key, secret !== undefined);
  if (!secret) {
    deps.metrics.forget(key);
    deps.memory.forget(key);
    return undefined;
  }
  const now = clock.monotonic();
  const memory = deps.memory.of(key);
  memory.unrequestedSince ??= now;
  memory.handledRequests.clear();
  memory.failure = undefined;
  const { allowDeletion: mayDelete } = deps.config;
  const step = planUnrequested({
    secret,
    unrequestedSince: memory.unrequestedSince,
    now,
    graceMs: deps.settings.deletionGraceMs,
    mayDelete,
    hasInvalidAnnotation: () =>
      list(Pod, { namespace: target.namespace }).some(
        (pod) => deps.parseAnnotation(pod.annotation).problems.length > 0,
      ),
  });
  if (step.step !== 'delete') return step.againInMs === undefined ? undefined : { requeueAfterMs: step.againInMs };
  // If the Secret was changed meanwhile, the next run decides.
  const outcome = await release(secrets, secret, { delete: true, isStillOurs: () => false, attempts: 1 });
  if (outcome === 'deleted') log.info('deleted a Secret that no pod requests');
  return undefined;
}
