import type { Pod, PodDisruptionBudget } from '@bowline/kubernetes';
import { formatTime, labelSelector } from '@bowline/machinery';
import type { BodyDecoder } from '../../bodies/decode-body.ts';
import type { ApiResponse } from '../../http/api-request.ts';
import { draftOf } from '../../printing/render.ts';
import type { Draft } from '../../registry/api-resource.ts';
import { setPodCondition } from '../../registry/kinds/core/pod/pod-condition.ts';
import { badRequest, conflict, forbidden, notFound, StatusError } from '../../status/api-status.ts';
import { keyIn, objectOf, type Stored } from '../../storage/stored.ts';
import { type RequestContext, resourceName } from '../context.ts';
import { type DeleteOptions, deleteObject } from '../delete.ts';
import { servePostedKind } from './serve-posted-kind.ts';

const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' };
const BUDGETS = 'poddisruptionbudgets.policy';
const BUDGET_RESOURCE = { group: 'policy', resource: 'poddisruptionbudgets' };

/** How many disrupted Pods a budget waits for at once, as in the API server. */
const MAX_DISRUPTED_PODS = 2_000;
/** How often a budget is charged again because another client wrote to it. */
const MAX_ATTEMPTS = 5;
/** How long a client waits for a budget that is being computed. */
const RETRY_SECONDS = 10;

type Budget = PodDisruptionBudget & Pick<Draft, 'metadata'>;

/** evictPod deletes a Pod if its disruption budget allows it. */
export async function evictPod(
  context: RequestContext,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<ApiResponse> {
  return servePostedKind(context, decoders, EVICTION, (eviction, dryRun) => evict(context, eviction, dryRun));
}

async function evict(context: RequestContext, eviction: Draft, dryRun: boolean): Promise<void> {
  const { storage, resource, info } = context;
  if (eviction.metadata.name !== info.name) throw badRequest('name in URL does not match name in Eviction object');
  const stored = storage.get(resource.collection, keyIn(info.namespace, info.name));
  if (!stored) throw notFound(resourceName(context), info.name);
  const pod = draftOf(stored);
  const options = deletion(eviction, dryRun);
  if (options.uid !== undefined && options.uid !== pod.metadata.uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: 'Pod' }, info.name, why);
  }
  if (!isIdle(pod)) chargeBudget(context, pod, options.dryRun);
  if (!options.dryRun) markEvicted(context);
  await deleteObject(context, info.name, info.namespace, options);
}

/** Nothing depends on a Pod that has not started, or has ended. */
function isIdle(pod: Draft): boolean {
  const { phase = '' } = (pod.status ?? {}) as { phase?: string };
  return ['Pending', 'Succeeded', 'Failed'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

/** chargeBudget charges the Pod to its budget, or refuses the eviction if the budget allows no disruption. */
function chargeBudget(context: RequestContext, pod: Draft, dryRun: boolean): void {
  const { storage, info, clock } = context;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const budgets = [...storage.select(BUDGETS, { namespace: info.namespace })].filter((each) => selects(each, pod));
    if (budgets.length > 1) {
      const message =
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
      throw new StatusError(500, undefined, message);
    }
    const [stored] = budgets;
    if (!stored) return;
    const budget = draftOf(stored) as unknown as Budget;
    if (!isReady(pod) && isAlwaysEvictable(budget)) return;
    const next = spent(budget, String(pod.metadata.name), clock.now());
    if (dryRun || storage.update(BUDGETS, stored.key, stored.revision, next)) return;
  }
  throw conflict(BUDGET_RESOURCE, info.name);
}

function selects(stored: Stored, pod: Draft): boolean {
  const { selector } = (objectOf(stored) as PodDisruptionBudget).spec ?? {};
  return selector !== undefined && labelSelector(selector).matches(pod.metadata.labels ?? {});
}

function isReady(pod: Draft): boolean {
  const { conditions } = (pod.status ?? {}) as NonNullable<Pod['status']>;
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** A Pod that is not ready is not charged while enough others are healthy, or if the policy of the budget allows it. */
function isAlwaysEvictable({ spec, status }: Budget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/** spent returns the budget with one more disrupted Pod. */
function spent(budget: Budget, pod: string, now: number): Budget {
  const { metadata, status } = budget;
  const { name = '', generation = 0 } = metadata;
  if ((status?.observedGeneration ?? 0) < generation) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);
  }
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0, disruptedPods = {} } = status ?? {};
  if (disruptionsAllowed < 0) throw forbidden(BUDGET_RESOURCE, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(BUDGET_RESOURCE, name, why);
  }
  if (disruptionsAllowed === 0) {
    throw refused(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  }
  const left = disruptionsAllowed - 1;
  const conditions = status?.conditions?.map((each) =>
    each.type === 'DisruptionAllowed' && left === 0
      ? { ...each, status: 'False' as const, reason: 'InsufficientPods', lastTransitionTime: formatTime(now) }
      : each,
  );
  return {
    ...budget,
    status: {
      desiredHealthy,
      currentHealthy,
      expectedPods: 0,
      ...status,
      conditions,
      disruptionsAllowed: left,
      disruptedPods: { ...disruptedPods, [pod]: formatTime(now) },
    },
  };
}

function refused(why: string, retryAfterSeconds?: number): StatusError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const causes = [{ reason: 'DisruptionBudget', message: why }];
  return new StatusError(429, 'TooManyRequests', message, { causes, retryAfterSeconds });
}

/** markEvicted sets the condition on the Pod that reports its eviction. */
function markEvicted({ storage, resource, info, clock }: RequestContext): void {
  const key = keyIn(info.namespace, info.name);
  const stored = storage.get(resource.collection, key);
  if (!stored) return;
  const pod = draftOf(stored);
  const reason = 'EvictionByEvictionAPI';
  setPodCondition(pod, clock.now(), {
    type: 'DisruptionTarget',
    status: 'True',
    reason,
    message: 'Eviction API: evicting',
  });
  storage.update(resource.collection, key, stored.revision, pod);
}

function deletion(eviction: Draft, dryRun: boolean): DeleteOptions {
  const {
    gracePeriodSeconds,
    propagationPolicy,
    preconditions,
    dryRun: inside,
  } = (eviction.deleteOptions ?? {}) as {
    gracePeriodSeconds?: number;
    propagationPolicy?: DeleteOptions['propagationPolicy'];
    preconditions?: { uid?: string; resourceVersion?: string };
    dryRun?: readonly string[];
  };
  return {
    gracePeriodSeconds,
    propagationPolicy,
    uid: preconditions?.uid,
    resourceVersion: preconditions?.resourceVersion,
    dryRun: dryRun || (inside ?? []).includes('All'),
    raw: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...(eviction.deleteOptions as object | undefined) },
  };
}
