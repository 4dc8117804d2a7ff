import { type ObjectKey, Pod, parseKey, Secret } from '@bowline/kubernetes';
import { type Requester, type RequestingPod, requestersOf } from '../pods/requesters.ts';
import type { SecretContext } from './controller.ts';
import type { KnownSecret } from './obstacles.ts';
import { secrets } from './secrets.ts';

/**
 * ObservedSecret is the observed state of a Secret. `live` is the whole object if it is not ours and keys may be merged
 * into it.
 */
export interface ObservedSecret {
  readonly secret: KnownSecret;
  readonly live?: Secret | undefined;
}

/** targetOf returns the key of the Secret that a run reconciles. */
export function targetOf({
  key,
}: Pick<SecretContext, 'key'>): Required<Pick<ObjectKey, 'name'>> & { readonly namespace: string } {
  const { namespace = '', name } = parseKey(key);
  return { namespace, name };
}

/** findRequesters returns the workloads that request the Secret of a run. */
export function findRequesters(context: SecretContext): readonly Requester[] {
  const { key, get, list, deps } = context;
  const target = targetOf(context);
  const now = deps.instantClock.monotonic();
  const requestingPods = list(Pod, { by: { asks: key } }).flatMap((pod): RequestingPod[] => {
    const request = deps.parseAnnotation(pod.annotation).requests.find(({ secretName }) => secretName === target.name);
    const { at: observedAt, isInitial } = deps.memory.observePod(pod, now);
    return request ? [{ pod, request, observedAt, isInitial }] : [];
  });
  return requestersOf(requestingPods, get('managed', target)?.operatorAnnotations.requestHash);
}

/**
 * observeSecret returns the observed state of the Secret. It reads the Secret only if it is not ours and a workload
 * wants to merge keys into it.
 */
export async function observeSecret(context: SecretContext, requesters: readonly Requester[]): Promise<ObservedSecret> {
  const { get, live } = context;
  const target = targetOf(context);
  const ours = get('managed', target);
  if (ours) return { secret: ours };
  if (!get('others', target)) return { secret: undefined };
  if (requesters.every(({ request }) => request.creationPolicy === 'Create')) return { secret: 'foreign' };
  const found = await live.find(Secret, target);
  return found ? { secret: secrets.viewOf(found), live: found } : { secret: undefined };
}
