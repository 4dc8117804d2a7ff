import { Pod } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import { targetOf } from './look.ts';
import { planUnasked } from './plan-unasked.ts';
import { secrets } from './secrets.ts';
import type { SecretContext } from './watching.ts';

/** deleteUnasked lets a Secret that nobody asks for stay, unless all who asked said that it goes with them. */
export async function deleteUnasked(context: SecretContext): Promise<ReconcileResult> {
  const { key, deps, clock, get, list, release, log } = context;
  const target = targetOf(context);
  const secret = get('managed', target);
  deps.metrics.see(key, secret !== undefined);
  if (!secret) {
    deps.metrics.forget(key);
    deps.memory.forget(key);
    return undefined;
  }
  const now = clock.monotonic();
  const memory = deps.memory.of(key);
  memory.unaskedSince ??= now;
  memory.answered.clear();
  memory.failure = undefined;
  const { allowDeletion: mayDelete } = deps.config;
  const step = planUnasked({
    secret,
    unaskedSince: memory.unaskedSince,
    now,
    graceMs: deps.settings.deletionGraceMs,
    mayDelete,
    isUnclear: () =>
      list(Pod, { namespace: target.namespace }).some((pod) => deps.read(pod.annotation).problems.length > 0),
  });
  if (step.step !== 'delete') return step.againInMs === undefined ? undefined : { requeueAfterMs: step.againInMs };
  // One that was changed meanwhile is for the next run to judge.
  const outcome = await release(secrets, secret, { delete: true, isStillOurs: () => false, attempts: 1 });
  if (outcome === 'deleted') log.info('deleted a Secret that nobody asks for');
  return undefined;
}
