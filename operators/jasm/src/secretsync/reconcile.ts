import { Pod } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import type { Asker } from '../pods/askers.ts';
import { deleteUnasked } from './deletion.ts';
import { sayConflict, sayProblem } from './events.ts';
import { findAskers, lookAt } from './look.ts';
import { pursuedSince } from './memory.ts';
import { isThere } from './obstacles.ts';
import { deletionPolicyOf, planSecret, pursuitOf, type SecretStep, type Situation } from './plan-secret.ts';
import { restartServed } from './restart-served.ts';
import { chooseServing } from './serving.ts';
import { spread } from './spread.ts';
import { markOnly, readAndWrite, type SyncWork, settle } from './sync-secret.ts';
import { canJudge, isNamespaceGoing, judge, type Verdict } from './verdict.ts';
import type { SecretContext } from './watching.ts';

/** How soon to check again for a namespace; its first appearance also triggers a run. */
const UNSEEN_MS = 1_000;

/**
 * reconcile brings a Secret to the state that the requesting pods want, or releases it if no pod requests it any more.
 */
export async function reconcile(context: SecretContext): Promise<ReconcileResult> {
  const { deps, list } = context;
  deps.memory.begin(() => list(Pod), deps.instants.monotonic());
  const [first, ...others] = findAskers(context);
  if (!first) return deleteUnasked(context);
  if (isNamespaceGoing(context)) return undefined;
  return canJudge(context) ? serve(context, [first, ...others]) : { requeueAfterMs: UNSEEN_MS };
}

async function serve(context: SecretContext, askers: readonly [Asker, ...Asker[]]): Promise<ReconcileResult> {
  const look = await lookAt(context, askers);
  context.deps.metrics.see(context.key, isThere(look.secret) && look.secret.isOurs);
  const verdicts = new Map(askers.map((asker) => [asker, judge(context, asker.request)]));
  const isPermitted = (asker: Asker): boolean => isPermission(verdicts.get(asker));
  const serving = chooseServing(askers, isThere(look.secret) ? look.secret.marks : undefined, isPermitted);
  const situation = situationOf(context, {
    serving,
    secret: look.secret,
    isPermitted: isPermitted(serving.lead),
    deletionPolicy: deletionPolicyOf(askers),
  });
  for (const [asker, verdict] of verdicts) {
    if ('problem' in verdict) sayProblem(context, [asker], verdict.problem);
    else if (serving.rivals.includes(asker)) sayConflict(context, serving, asker);
  }
  const verdict = verdicts.get(serving.lead);
  const work: SyncWork = { context, look, situation };
  const step = planSecret(situation);
  context.deps.memory.of(context.key).pursuit = pursuitOf(situation, step);
  return carryOut(work, step, verdict);
}

async function carryOut(work: SyncWork, step: SecretStep, verdict: Verdict | undefined): Promise<ReconcileResult> {
  const { context, situation } = work;
  switch (step.step) {
    case 'rest': {
      if (!step.isServed) return again(step.againInMs);
      settle(work, 'unchanged');
      const restartInMs = await restartServed(work);
      return again(Math.min(step.againInMs ?? Number.POSITIVE_INFINITY, restartInMs ?? Number.POSITIVE_INFINITY));
    }
    case 'stop':
      sayProblem(context, situation.serving.served, step.problem);
      return again(step.againInMs);
    case 'mark':
      return markOnly(work, step.secret);
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
  const instant = deps.instants.monotonic();
  const known = memory.of(key);
  known.unaskedSince = undefined;
  known.readAt ??= now;
  const { serving, secret, isPermitted, deletionPolicy } = found;
  const { provider, path, hash } = serving.lead.request;
  // Spreading `found` would create an object of kilobytes, twice for every Secret.
  return {
    serving,
    secret,
    isPermitted,
    deletionPolicy,
    tellsVersions: deps.kinds.get(provider)?.tellsVersions ?? true,
    pursuedSince: pursuedSince(known.pursuit, hash),
    answeredFor: ({ pod }) => known.answered.get(pod.uid),
    readAt: known.readAt,
    failure: known.failure,
    repairs: known.repairs,
    markings: known.markings,
    now,
    instant,
    resyncMs: settings.resyncMs * spread(`${provider} ${path}`),
  };
}

function isPermission(verdict: Verdict | undefined): verdict is Extract<Verdict, { readonly source: unknown }> {
  return verdict !== undefined && 'source' in verdict;
}

function again(ms: number | undefined): ReconcileResult {
  return ms === undefined || !Number.isFinite(ms) ? undefined : { requeueAfterMs: ms };
}
