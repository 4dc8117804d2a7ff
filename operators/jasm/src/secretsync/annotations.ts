import { Pod, parseKey } from '@bowline/kubernetes';
import { referenceTo } from '../pods/pod-view.ts';
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
  for (const { reason, message } of deps.read(pod.annotation).problems) {
    eventAbout(referenceTo(pod), 'Warning', reason, message);
  }
}
