import { hash } from 'node:crypto';
import type { Requester } from '../pods/requesters.ts';
import type { Serving } from './serving.ts';

/** The annotations of a Secret have a total size limit. If there are more requests at a time, the rest are ignored. */
const MAX_FORCE_REQUESTS = 64;

/** A value that users recognize, without the separators of the text that records it. */
const READABLE = /^[\w.:+-]{1,32}$/;

/** ForceRequest is the annotation `force-sync` of one pod, as a Secret records it. */
interface ForceRequest {
  readonly podKey: string;
  readonly workloadKey: string;
  /** Which of the two is recorded. */
  readonly remembered: string;
}

/**
 * forcedBy combines the `force-sync` annotations of the pods that a Secret serves, and returns undefined if none has
 * one. `recorded` is the value recorded on the Secret: it is returned unchanged if there is nothing new, for example
 * because pods are gone.
 */
export function forcedBy({ lead, served }: Serving, recorded?: string): string | undefined {
  const forceRequests = served.flatMap((requester) => forceRequestsOf(requester, lead.request.hash));
  const texts = [...new Set(forceRequests.map(({ remembered }) => remembered))].sort().slice(0, MAX_FORCE_REQUESTS);
  const known = new Set(recorded?.split(','));
  const isKnown = ({ podKey, workloadKey, remembered }: ForceRequest): boolean =>
    known.has(podKey) || known.has(workloadKey) || !texts.includes(remembered);
  return forceRequests.every(isKnown) ? recorded : texts.join(',');
}

/**
 * The same value on two pods may be two requests, so each counts per pod. If all pods of a workload have the value, it
 * comes from the template: pods that are created from the template later do not count as a new request.
 */
function forceRequestsOf({ workload, pods }: Requester, requestHash: string): readonly ForceRequest[] {
  const requestingPods = pods.filter(({ request }) => request.hash === requestHash).map(({ pod }) => pod);
  const [first] = requestingPods;
  const isShared = requestingPods.length > 1 && requestingPods.every(({ forceSync }) => forceSync === first?.forceSync);
  return requestingPods.flatMap(({ forceSync, uid }) => {
    if (forceSync === undefined) return [];
    const value = READABLE.test(forceSync) ? forceSync : `#${short(forceSync)}`;
    const [podKey, workloadKey] = [`${value}@${short(uid)}`, `${value}@${short(workload.id)}`];
    return [{ podKey, workloadKey, remembered: isShared ? workloadKey : podKey }];
  });
}

function short(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 8);
}
