import { type ObjectKey, Pod, parseKey, Secret } from '@bowline/kubernetes';
import { type Asker, type AskingPod, askersOf } from '../pods/askers.ts';
import type { Seen } from './obstacles.ts';
import { secrets } from './secrets.ts';
import type { SecretContext } from './watching.ts';

/**
 * Look is the observed state of a Secret. `live` is the whole object if it is not ours and keys may be merged into it.
 */
export interface Look {
  readonly secret: Seen;
  readonly live?: Secret | undefined;
}

/** targetOf returns the key of the Secret that a run reconciles. */
export function targetOf({
  key,
}: Pick<SecretContext, 'key'>): Required<Pick<ObjectKey, 'name'>> & { readonly namespace: string } {
  const { namespace = '', name } = parseKey(key);
  return { namespace, name };
}

/** findAskers returns the workloads that request the Secret of a run. */
export function findAskers(context: SecretContext): readonly Asker[] {
  const { key, get, list, deps } = context;
  const target = targetOf(context);
  const now = deps.instants.monotonic();
  const asking = list(Pod, { by: { asks: key } }).flatMap((pod): AskingPod[] => {
    const request = deps.read(pod.annotation).requests.find(({ secretName }) => secretName === target.name);
    const { at: noticedAt, isInitial } = deps.memory.notice(pod, now);
    return request ? [{ pod, request, noticedAt, isInitial }] : [];
  });
  return askersOf(asking, get('managed', target)?.marks.requestHash);
}

/**
 * lookAt returns the observed state of the Secret. It reads the Secret only if it is not ours and a workload wants to
 * merge keys into it.
 */
export async function lookAt(context: SecretContext, askers: readonly Asker[]): Promise<Look> {
  const { get, live } = context;
  const target = targetOf(context);
  const ours = get('managed', target);
  if (ours) return { secret: ours };
  if (!get('others', target)) return { secret: undefined };
  if (askers.every(({ request }) => request.creationPolicy === 'Create')) return { secret: 'foreign' };
  const found = await live.find(Secret, target);
  return found ? { secret: secrets.viewOf(found), live: found } : { secret: undefined };
}
