import { Pod, parseKey } from '@bowline/kubernetes';
import type { AnnotationContext } from './watching.ts';

/**
 * checkAnnotation tells a pod what is wrong with what it asks. The entries that are right are looked after elsewhere, whatever stands
 * beside them. It never waits for anything, and so is the first to know of a pod.
 */
export function checkAnnotation(context: AnnotationContext): void {
  const { key, get, list, deps, eventAbout } = context;
  const now = deps.instants.monotonic();
  deps.memory.begin(() => list(Pod), now);
  const pod = get(Pod, parseKey(key));
  if (!pod) {
    deps.memory.forgetPod(key);
    return;
  }
  deps.memory.notice(pod, now);
  if (pod.isTerminating) return;
  const { namespace, name, uid } = pod;
  for (const { reason, message } of deps.read(pod.annotation).problems) {
    eventAbout({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid } }, 'Warning', reason, message);
  }
}
