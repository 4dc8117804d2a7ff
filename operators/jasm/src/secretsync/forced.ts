import { hash } from 'node:crypto';
import type { Asker } from '../pods/askers.ts';
import type { Serving } from './serving.ts';

/** A Secret's annotations have a limit together. Of more wishes at a time the rest is not obeyed. */
const MOST_WISHES = 64;

/** A value that people recognise, and that has none of the marks of the text in which it is remembered. */
const READABLE = /^[\w.:+-]{1,32}$/;

/** Wish is the annotation `force-sync` of one pod, as a Secret remembers it. */
interface Wish {
  readonly ofPod: string;
  readonly ofWorkload: string;
  /** Which of the two is written down. */
  readonly remembered: string;
}

/**
 * forcedBy is what the annotations `force-sync` of the pods that a Secret serves say together; undefined when none has any. `obeyed`
 * is what the Secret remembers: when nothing is said beyond that, because pods are gone, it stays.
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
 * Two pods that say the same may mean it twice, so a wish is one pod's. Where all pods of a workload say it, its template does:
 * those that are made from it later wish for nothing new.
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
