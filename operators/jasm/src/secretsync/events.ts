import { referenceTo } from '../pods/pod-view.ts';
import type { Requester, RequestingPod } from '../pods/requesters.ts';
import type { SecretContext } from './controller.ts';
import { usedByWorkload } from './obstacles.ts';
import type { Problem } from './problem.ts';
import type { Serving } from './serving.ts';
import type { Outcome } from './write-secret.ts';

/**
 * The maximum number of pods of a workload that receive the same event: users who inspect one of thousands pick a young
 * one.
 */
const MAX_NOTIFIED_PODS = 100;

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  created: 'was created from',
  updated: 'was updated from',
  repaired: 'was changed by another client and was restored from',
  marked: 'is in sync with',
  unchanged: 'is in sync with',
};

/** recordSuccess reports to pods that the Secret they requested is in place. */
export function recordSuccess(
  context: SecretContext,
  { lead }: Serving,
  pods: readonly RequestingPod[],
  outcome: Outcome,
): void {
  const { secretName, provider, path } = lead.request;
  recordEvents(
    context,
    pods,
    'Normal',
    'SecretSyncSuccess',
    `Secret ${secretName} ${OUTCOMES[outcome]} ${provider} ${path}`,
  );
}

/**
 * recordProblem reports to the pods of workloads why the Secret they requested is not in place. It is called in every
 * run while the problem lasts.
 */
export function recordProblem(
  context: SecretContext,
  requesters: readonly Requester[],
  { reason, message }: Problem,
): void {
  for (const { pods } of requesters) recordEvents(context, pods, 'Warning', reason, message);
}

/** recordConflict reports to a workload that requests other content which workload holds the Secret. */
export function recordConflict(context: SecretContext, { lead }: Serving, rival: Requester): void {
  recordProblem(context, [rival], usedByWorkload(rival.request, lead.workload.id));
}

function recordEvents(
  { eventAbout }: SecretContext,
  pods: readonly RequestingPod[],
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  for (const { pod } of pods.slice(0, MAX_NOTIFIED_PODS)) eventAbout(referenceTo(pod), type, reason, message);
}
