import type { Asker } from '../pods/askers.ts';
import type { Source } from '../sources/source.ts';
import { targetOf } from './look.ts';
import { judge } from './verdict.ts';
import type { SecretContext } from './watching.ts';

/**
 * sourcesBeside returns the sources that the same annotation names for other missing Secrets: a store with batch reads
 * returns all of them in one call.
 */
export function sourcesBeside(context: SecretContext, { pods, request }: Asker): readonly Source[] {
  const { get, deps } = context;
  const { namespace } = targetOf(context);
  const beside = pods.slice(0, 1).flatMap(({ pod }) => deps.read(pod.annotation).requests);
  return beside.flatMap((other) => {
    const target = { namespace, name: other.secretName };
    const isMissing = !get('managed', target) && !get('others', target);
    if (other.provider !== request.provider || other.secretName === request.secretName || !isMissing) return [];
    const verdict = judge(context, other);
    return 'source' in verdict ? [verdict.source] : [];
  });
}
