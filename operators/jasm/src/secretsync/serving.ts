import type { Asker, AskingPod } from '../pods/askers.ts';
import type { SecretView } from './secrets.ts';

/**
 * Serving holds the workloads that a Secret serves: all request the same content, the lead first. The rivals request
 * other content.
 */
export interface Serving {
  /** The workload whose request is fulfilled. */
  readonly lead: Asker;
  /** All workloads with the same request as the lead, including the lead. */
  readonly served: readonly Asker[];
  readonly rivals: readonly Asker[];
}

/**
 * chooseServing chooses among the requesters of a Secret, of which there is at least one, the oldest first:
 * - the one whose request the Secret holds, even if its permission was revoked or its pods are being deleted;
 * - else the workload that the Secret was last written for, whose request has changed;
 * - else the oldest one that is permitted to read what it requests.
 */
export function chooseServing(
  askers: readonly [Asker, ...Asker[]],
  marks: Pick<SecretView['marks'], 'requestHash' | 'askedBy'> | undefined,
  isPermitted: (asker: Asker) => boolean,
): Serving {
  const chosen =
    askers.find(({ request }) => request.hash === marks?.requestHash) ??
    askers.find(({ workload }) => workload.id === marks?.askedBy) ??
    askers.find((asker) => !asker.isLeaving && isPermitted(asker)) ??
    askers[0];
  const served = askers.filter(({ request }) => request.hash === chosen.request.hash);
  return {
    // Among several workloads with the same request, one that is not being deleted decides how the Secret is written.
    lead: served.find(({ isLeaving }) => !isLeaving) ?? chosen,
    served,
    rivals: askers.filter((asker) => !served.includes(asker)),
  };
}

/**
 * servedPods returns the pods with the served request; during a rollout, those of older templates may have another one.
 */
export function servedPods({ lead, served }: Serving): readonly AskingPod[] {
  return served.flatMap(({ pods }) => pods.filter(({ request }) => request.hash === lead.request.hash));
}
