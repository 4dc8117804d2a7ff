import type { ConditionUpdate } from '@bowline/runtime/writing';
import type { SyncFacts } from './conclude.ts';

/** readyCondition returns the condition Ready: whether every gateway has the requested commit. */
export function readyCondition(
  { paused, state, published }: Pick<SyncFacts, 'paused' | 'state' | 'published'>,
  conditions: readonly ConditionUpdate[],
): ConditionUpdate {
  const notReady = (reason: string, message: string): ConditionUpdate => ({
    type: 'Ready',
    status: false,
    reason,
    message,
  });
  if (paused !== undefined) return notReady('Paused', paused);
  if (state.problem !== undefined) return notReady('Reconciling', state.problem);
  if (state.target === undefined) return notReady('Reconciling', 'Repository not cloned');
  if (state.gatewayProblem !== undefined) return notReady('Reconciling', state.gatewayProblem);
  if (published?.outcome === 'too-large') return notReady('TooLarge', published.message);
  return conditions.findLast(({ type }) => type === 'Ready') ?? notReady('Reconciling', 'Waiting for gateways to sync');
}
