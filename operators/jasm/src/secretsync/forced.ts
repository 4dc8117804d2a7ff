import { hash } from 'node:crypto';
import type { Asker } from '../pods/askers.ts';
import type { Serving } from './serving.ts';

/** The annotations of a Secret have a total size limit. If there are more requests at a time, the rest are ignored. */
const MOST_WISHES = 64;

/** A value that users recognize, without the separators of the text that records it. */
const READABLE = /^[\w.:+-]{1,32}$/;

/** Wish is the annotation `force-sync` of one pod, as a Secret records it. */
interface Wish {
  readonly ofPod: string;
  readonly ofWorkload: string;
  /** Which of the two is recorded. */
  readonly remembered: string;
}

/**
 * forcedBy combines the `force-sync` annotations of the pods that a Secret serves, and returns undefined if none has
 * one. `obeyed` is the value recorded on the Secret: it is returned unchanged if there is nothing new, for example
 * because pods are gone.
 */
export function forcedBy({ lead, served }: Serving, obeyed?: string): string | undefined {
  const wishes = served.flatMap((asker) => wishesOf(asker, lead.request.hash));
  const texts = [...new Set(wishes.map(({ remembered }) => remembered))].sort().slice(0, MOST_WISHES);
  const known = new Set(obeyed?.split(','));
  const isKnown = ({ ofPod, ofWorkload, remembered }: Wish): boolean =>
    known.has(ofPod) || known.has(ofWorkload) || !texts.includes(remembered);
  return wishes.every(isKnown) ? obeyed : texts.join(',');
}

/**
 * The same value on two pods may be two requests, so each counts per pod. If all pods of a workload have the value, it
 * comes from the template: pods that are created from the template later do not count as a new request.
 */
function wishesOf({ workload, pods }: Asker, requestHash: string): readonly Wish[] {
  const asking = pods.filter(({ request }) => request.hash === requestHash).map(({ pod }) => pod);
  const [first] = asking;
  const isShared = asking.length > 1 && asking.every(({ forceSync }) => forceSync === first?.forceSync);
  return asking.flatMap(({ forceSync, uid }) => {
    if (forceSync === undefined) return [];
    const value = READABLE.test(forceSync) ? forceSync : `#${short(forceSync)}`;
    const [ofPod, ofWorkload] = [`${value}@${short(uid)}`, `${value}@${short(workload.id)}`];
    return [{ ofPod, ofWorkload, remembered: isShared ? ofWorkload : ofPod }];
  });
}

function short(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 8);
}
