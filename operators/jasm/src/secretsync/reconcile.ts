import { Pod } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import type { Requester } from '../pods/requesters.ts';
import type { SecretContext } from './controller.ts';
import { deleteUnrequested } from './deletion.ts';
import { recordConflict, recordProblem } from './events.ts';
import { jitter } from './jitter.ts';
import { readNeededSince } from './memory.ts';
import { findRequesters, observeSecret } from './observed-secret.ts';
import { isKnown } from './obstacles.ts';
import { activeRequestOf, deletionPolicyOf, planSecret, type SecretStep, type Situation } from './plan-secret.ts';
import { restartServed } from './restart-served.ts';
import { chooseServing } from './serving.ts';
import { readAndWrite, type SyncWork, settle, updateMetadata } from './sync-secret.ts';
import { canDecide, checkPermission, isNamespaceTerminating, type Verdict } from './verdict.ts';

/** How soon to check again for a namespace; its first appearance also triggers a run. */
const NAMESPACE_RECHECK_MS = 1_000;

/**
 * reconcile brings a Secret to the state that the requesting pods want, or releases it if no pod requests it any more.
 */
export async function reconcile(context: SecretContext): Promise<ReconcileResult> {
  const { deps, list } = context;
  deps.memory.recordInitialPods(() => list(Pod), deps.instantClock.monotonic());
  const [first, ...others] = findRequesters(context);
  if (!first) return deleteUnrequested(context);
  if (isNamespaceTerminating(context)) return undefined;
  return canDecide(context) ? serve(context, [first, ...others]) : { requeueAfterMs: NAMESPACE_RECHECK_MS };
}

async function serve(
  context: SecretContext,
  requesters: readonly [Requester, ...Requester[]],
): Promise<ReconcileResult> {
  const observed = await observeSecret(context, requesters);
  context.deps.metrics.setManaged(context.key, isKnown(observed.secret) && observed.secret.isOurs);
  const verdicts = new Map(requesters.map((requester) => [requester, checkPermission(context, requester.request)]));
  const isPermitted = (requester: Requester): boolean => isPermission(verdicts.get(requester));
  const serving = chooseServing(
    requesters,
    isKnown(observed.secret) ? observed.secret.operatorAnnotations : undefined,
    isPermitted,
  );
  const situation = situationOf(context, {
    serving,
    secret: observed.secret,
    isPermitted: isPermitted(serving.lead),
    deletionPolicy: deletionPolicyOf(requesters),
  });
  for (const [requester, verdict] of verdicts) {
    if ('problem' in verdict) recordProblem(context, [requester], verdict.problem);
    else if (serving.rivals.includes(requester)) recordConflict(context, serving, requester);
  }
  const verdict = verdicts.get(serving.lead);
  const work: SyncWork = { context, observed, situation };
  const step = planSecret(situation);
  context.deps.memory.of(context.key).activeRequest = activeRequestOf(situation, step);
  return execute(work, step, verdict);
}

async function execute(work: SyncWork, step: SecretStep, verdict: Verdict | undefined): Promise<ReconcileResult> {
  const { context, situation } = work;
  switch (step.step) {
    case 'rest': {
      if (!step.isServed) return requeueAfter(step.againInMs);
      settle(work, 'unchanged');
      const restartInMs = await restartServed(work);
      return requeueAfter(
        Math.min(step.againInMs ?? Number.POSITIVE_INFINITY, restartInMs ?? Number.POSITIVE_INFINITY),
      );
    }
    case 'stop':
      recordProblem(context, situation.serving.served, step.problem);
      return requeueAfter(step.againInMs);
    case 'mark':
      return updateMetadata(work, step.secret);
    case 'read':
      // Without permission, no read is planned.
      return isPermission(verdict) ? readAndWrite(work, step, verdict.source) : undefined;
  }
}

/** situationOf adds remembered and configured values to the observed ones. */
function situationOf(
  { key, deps, clock }: SecretContext,
  found: Pick<Situation, 'serving' | 'secret' | 'isPermitted' | 'deletionPolicy'>,
): Situation {
  const { memory, settings } = deps;
  const now = clock.monotonic();
  const instant = deps.instantClock.monotonic();
  const known = memory.of(key);
  known.unrequestedSince = undefined;
  known.readAt ??= now;
  const { serving, secret, isPermitted, deletionPolicy } = found;
  const { provider, path, hash } = serving.lead.request;
  // Spreading `found` would create an object of kilobytes, twice for every Secret.
  return {
    serving,
    secret,
    isPermitted,
    deletionPolicy,
    canProbeVersion: deps.kinds.get(provider)?.canProbeVersion ?? true,
    readNeededSince: readNeededSince(known.activeRequest, hash),
    handledHashOf: ({ pod }) => known.handledRequests.get(pod.uid),
    readAt: known.readAt,
    failure: known.failure,
    repairs: known.repairs,
    metadataRepairs: known.metadataRepairs,
    now,
    instant,
    resyncMs: settings.resyncMs * jitter(`${provider} ${path}`),
  };
}

function isPermission(verdict: Verdict | undefined): verdict is Extract<Verdict, { readonly source: unknown }> {
  return verdict !== undefined && 'source' in verdict;
}

function requeueAfter(ms: number | undefined): ReconcileResult {
  return ms === undefined || !Number.isFinite(ms) ? undefined : { requeueAfterMs: ms };
}
