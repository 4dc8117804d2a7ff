import type { Asker, AskingPod } from '../pods/askers.ts';
import type { SecretView } from './secrets.ts';

/** Serving is whom a Secret serves: askers of the same content, the lead first. The others are in conflict with them. */
export interface Serving {
  /** Whose request is carried out. */
  readonly lead: Asker;
  /** All askers of what the lead asks, itself included. */
  readonly served: readonly Asker[];
  readonly rivals: readonly Asker[];
}

/**
 * chooseServing decides between the askers of a Secret, of which there is at least one, the oldest first:
 * - who asks for what the Secret holds keeps it, also when its right to was taken away since or its pods are just being deleted;
 * - else the workload that the Secret was last written for, whose request has changed;
 * - else the oldest that may have what it asks for.
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
    // Of several who ask for the same, one that stays says how it is written.
    lead: served.find(({ isLeaving }) => !isLeaving) ?? chosen,
    served,
    rivals: askers.filter((asker) => !served.includes(asker)),
  };
}

/** servedPods are the pods that ask for what is served; during a rollout, those of older templates may not. */
export function servedPods({ lead, served }: Serving): readonly AskingPod[] {
  return served.flatMap(({ pods }) => pods.filter(({ request }) => request.hash === lead.request.hash));
}
