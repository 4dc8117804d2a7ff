import type { Requester } from '../pods/requesters.ts';
import type { Source } from '../sources/source.ts';
import type { SecretContext } from './controller.ts';
import { targetOf } from './observed-secret.ts';
import { checkPermission } from './verdict.ts';

/**
 * batchSiblings returns the sources that the same annotation names for other missing Secrets: a store with batch reads
 * returns all of them in one call.
 */
export function batchSiblings(context: SecretContext, { pods, request }: Requester): readonly Source[] {
  const { get, deps } = context;
  const { namespace } = targetOf(context);
  const siblings = pods.slice(0, 1).flatMap(({ pod }) => deps.parseAnnotation(pod.annotation).requests);
  return siblings.flatMap((other) => {
    const target = { namespace, name: other.secretName };
    const isMissing = !get('managed', target) && !get('others', target);
    if (other.provider !== request.provider || other.secretName === request.secretName || !isMissing) return [];
    const verdict = checkPermission(context, other);
    return 'source' in verdict ? [verdict.source] : [];
  });
}
