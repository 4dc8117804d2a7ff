import type { Asker, AskingPod } from '../pods/askers.ts';
import { referenceTo } from '../pods/pod-view.ts';
import { heldBy } from './obstacles.ts';
import type { Problem } from './problem.ts';
import type { Serving } from './serving.ts';
import type { SecretContext } from './watching.ts';
import type { Outcome } from './write-secret.ts';

/** The most pods of a workload that are told the same thing: whoever looks at one of thousands looks at a young one. */
const MOST_TOLD = 100;

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  created: 'was created from',
  updated: 'was updated from',
  repaired: 'was changed by somebody and is again as in',
  marked: 'is in sync with',
  unchanged: 'is in sync with',
};

/** saySuccess tells pods that they have what they asked for. */
export function saySuccess(
  context: SecretContext,
  { lead }: Serving,
  pods: readonly AskingPod[],
  outcome: Outcome,
): void {
  const { secretName, provider, path } = lead.request;
  tell(context, pods, 'Normal', 'SecretSyncSuccess', `Secret ${secretName} ${OUTCOMES[outcome]} ${provider} ${path}`);
}

/** sayProblem tells the pods of askers why they do not have what they asked for. Said in every run in which that is so. */
export function sayProblem(context: SecretContext, askers: readonly Asker[], { reason, message }: Problem): void {
  for (const { pods } of askers) tell(context, pods, 'Warning', reason, message);
}

/** sayConflict tells one that asks for another content whose the Secret is. */
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
