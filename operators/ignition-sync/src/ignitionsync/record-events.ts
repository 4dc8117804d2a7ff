import { findCondition } from '@bowline/runtime';
import type { ConditionUpdate } from '@bowline/runtime/writing';
import { CR_ANNOTATIONS } from '../api/names.ts';
import type { SyncEvent } from '../gateways/gateway-conditions.ts';
import type { SyncFacts } from './conclude.ts';
import type { SyncContext } from './sync-controller.ts';

/** recordEvents records what holds in this run. The runtime sends an event when its state begins. */
export function recordEvents(
  { event, object }: SyncContext,
  { paused, state, storage }: SyncFacts,
  conditions: readonly ConditionUpdate[],
  ofGateways: readonly SyncEvent[],
): void {
  if (paused !== undefined) event('Normal', 'Paused', paused);
  const repoCloned = conditions.find(({ type }) => type === 'RepoCloned');
  if (repoCloned?.status === true) {
    event('Normal', 'RepoCloned', 'the repository can be read');
    event('Normal', 'RefUpdated', repoCloned.message);
  } else if (repoCloned && repoCloned.reason !== 'Reconciling') {
    event('Warning', 'CloneFailed', repoCloned.message);
  } else if (repoCloned === undefined) {
    // An operation runs; the last result still holds.
    const stored = findCondition(object, 'RepoCloned');
    if (stored?.status === 'False' && stored.reason !== 'Reconciling') event('Warning', 'CloneFailed', stored.message);
    if (stored?.status === 'True') {
      event('Normal', 'RepoCloned', 'the repository can be read');
      event('Normal', 'RefUpdated', stored.message);
    }
  }
  const unverified = conditions.find(({ type, status }) => type === 'SourceVerified' && status === false);
  if (unverified) event('Warning', 'CloneFailed', unverified.message);
  if (state.gatewayProblem !== undefined) event('Warning', 'SyncFailed', state.gatewayProblem);
  if (storage) event('Warning', 'StoragePending', storage.message);
  const { requestedRef, requestedBy } = CR_ANNOTATIONS;
  const ref = object.metadata?.annotations?.[requestedRef];
  if (ref !== undefined) {
    event('Normal', 'WebhookReceived', `${object.metadata?.annotations?.[requestedBy] ?? 'a user'} requested ${ref}`);
  }
  for (const { type, reason, message } of ofGateways) event(type, reason, message);
}
