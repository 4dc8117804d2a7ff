import { isDeepStrictEqual } from 'node:util';
import type { Secret } from '@bowline/kubernetes';
import type { Ensured } from '@bowline/runtime/writing';
import type { SecretContext } from './controller.ts';
import { desiredMetadata, desiredSecret, type WantedMetadata, type WantedSecret } from './desired.ts';
import { type ObservedSecret, targetOf } from './observed-secret.ts';
import { immutableProblem, isKnown, keyConflict, modifiedOnWrite, obstacleTo } from './obstacles.ts';
import type { Problem } from './problem.ts';
import { claimOn, type DesiredSecret, type SecretView, secrets } from './secrets.ts';
import { writeProblem } from './write-problem.ts';

/** Outcome is the result of writing a Secret. */
export type Outcome = Exclude<Ensured<Secret, SecretView>['outcome'], 'stopped' | 'adopted' | 'recreated'>;

type Writer = Pick<SecretContext, 'key' | 'ensure'>;

/**
 * writeSecret brings a Secret to its desired state, with one request or none, and returns the outcome or the problem.
 */
export async function writeSecret(
  context: Writer,
  observed: ObservedSecret,
  wanted: WantedSecret,
): Promise<Outcome | Problem> {
  const { request, data } = wanted;
  const view = isKnown(observed.secret) ? observed.secret : undefined;
  const obstacle = obstacleTo(request, view);
  if (obstacle) return obstacle;
  const desired = desiredSecret(view, wanted);
  return withWriteProblem(wanted, async () => {
    const { outcome, stop, object } = await write(context, { view, live: observed.live }, desired);
    if (stop?.keys) return keyConflict(request, stop.keys);
    if (stop || outcome === 'stopped' || outcome === 'adopted' || outcome === 'recreated')
      return immutableProblem(request);
    // A Secret that is changed by admission would be repaired forever, as fast as the API server allows.
    if (object && outcome !== 'marked' && !hasContent(object, data, desired)) return modifiedOnWrite(request);
    return outcome;
  });
}

/** markSecret changes the annotations and labels of a Secret; its content and the time of its content stay. */
export function markSecret(context: Writer, view: SecretView, wanted: WantedMetadata): Promise<Outcome | Problem> {
  return withWriteProblem(wanted, async () => {
    const { outcome } = await write(context, { view }, desiredMetadata(view, wanted));
    return outcome === 'marked' ? outcome : 'unchanged';
  });
}

/**
 * If the Secret is not as observed, the request is refused and throws: the next run follows at once with a newer view,
 * and the source is not read again for a waiting pod.
 */
function write(
  context: Writer,
  observed: { readonly view: SecretView | undefined; readonly live?: Secret | undefined },
  desired: DesiredSecret,
): Promise<Ensured<Secret, SecretView>> {
  return context.ensure(secrets, targetOf(context), desired, { claim: claimOn, observed, attempts: 1 });
}

async function withWriteProblem(
  wanted: Pick<WantedSecret, 'request'> & Partial<Pick<WantedSecret, 'data'>>,
  writing: () => Promise<Outcome | Problem>,
): Promise<Outcome | Problem> {
  try {
    return await writing();
  } catch (error) {
    const problem = writeProblem(error, wanted);
    if (problem) return problem;
    throw error;
  }
}

/** Only some keys of a Secret that is not ours are ours: then the hash of those is compared. */
function hasContent(written: Secret, data: WantedSecret['data'], { hash }: DesiredSecret): boolean {
  return isDeepStrictEqual(written.data, data) || secrets.viewOf(written).ownHash === hash;
}
