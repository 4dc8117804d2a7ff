import type { Asker, AskingPod } from '../pods/askers.ts';
import { referenceTo } from '../pods/pod-view.ts';
import { heldBy } from './obstacles.ts';
import type { Problem } from './problem.ts';
import type { Serving } from './serving.ts';
import type { SecretContext } from './watching.ts';
import type { Outcome } from './write-secret.ts';

/**
 * The maximum number of pods of a workload that receive the same event: users who inspect one of thousands pick a young
 * one.
 */
const MOST_TOLD = 100;

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  created: 'was created from',
  updated: 'was updated from',
  repaired: 'was changed by another client and was restored from',
  marked: 'is in sync with',
  unchanged: 'is in sync with',
};

/** saySuccess reports to pods that the Secret they requested is in place. */
export function saySuccess(
  context: SecretContext,
  { lead }: Serving,
  pods: readonly AskingPod[],
  outcome: Outcome,
): void {
  const { secretName, provider, path } = lead.request;
  tell(context, pods, 'Normal', 'SecretSyncSuccess', `Secret ${secretName} ${OUTCOMES[outcome]} ${provider} ${path}`);
}

/**
 * sayProblem reports to the pods of workloads why the Secret they requested is not in place. It is called in every run
 * while the problem lasts.
 */
export function sayProblem(context: SecretContext, askers: readonly Asker[], { reason, message }: Problem): void {
  for (const { pods } of askers) tell(context, pods, 'Warning', reason, message);
}

/** sayConflict reports to a workload that requests other content which workload holds the Secret. */
export function sayConflict(context: SecretContext, { lead }: Serving, rival: Asker): void {
  sayProblem(context, [rival], heldBy(rival.request, lead.workload.id));
}

function tell(
  { eventAbout }: SecretContext,
  pods: readonly AskingPod[],
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  for (const { pod } of pods.slice(0, MOST_TOLD)) eventAbout(referenceTo(pod), type, reason, message);
}
