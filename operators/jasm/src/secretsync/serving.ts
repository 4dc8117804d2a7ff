import type { Requester, RequestingPod } from '../pods/requesters.ts';
import type { SecretView } from './secrets.ts';

/**
 * Serving holds the workloads that a Secret serves: all request the same content, the lead first. The rivals request
 * other content.
 */
export interface Serving {
  /** The workload whose request is fulfilled. */
  readonly lead: Requester;
  /** All workloads with the same request as the lead, including the lead. */
  readonly served: readonly Requester[];
  readonly rivals: readonly Requester[];
}

/**
 * chooseServing chooses among the requesters of a Secret, of which there is at least one, the oldest first:
 * - the one whose request the Secret holds, even if its permission was revoked or its pods are being deleted;
 * - else the workload that the Secret was last written for, whose request has changed;
 * - else the oldest one that is permitted to read what it requests.
 */
export function chooseServing(
  requesters: readonly [Requester, ...Requester[]],
  marks: Pick<SecretView['operatorAnnotations'], 'requestHash' | 'askedBy'> | undefined,
  isPermitted: (requester: Requester) => boolean,
): Serving {
  const chosen =
    requesters.find(({ request }) => request.hash === marks?.requestHash) ??
    requesters.find(({ workload }) => workload.id === marks?.askedBy) ??
    requesters.find((requester) => !requester.isShuttingDown && isPermitted(requester)) ??
    requesters[0];
  const served = requesters.filter(({ request }) => request.hash === chosen.request.hash);
  return {
    // Among several workloads with the same request, one that is not being deleted decides how the Secret is written.
    lead: served.find(({ isShuttingDown }) => !isShuttingDown) ?? chosen,
    served,
    rivals: requesters.filter((requester) => !served.includes(requester)),
  };
}

/**
 * servedPods returns the pods with the served request; during a rollout, those of older templates may have another one.
 */
export function servedPods({ lead, served }: Serving): readonly RequestingPod[] {
  return served.flatMap(({ pods }) => pods.filter(({ request }) => request.hash === lead.request.hash));
}
