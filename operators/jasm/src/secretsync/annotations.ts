import { Pod, parseKey } from '@bowline/kubernetes';
import { referenceTo } from '../pods/pod-view.ts';
import type { AnnotationContext } from './controller.ts';

/**
 * checkAnnotation reports the problems of a pod's annotation to the pod. Valid entries are reconciled elsewhere,
 * whatever other entries the annotation has. It never waits, so it is the first to see a pod.
 */
export function checkAnnotation(context: AnnotationContext): void {
  const { key, get, list, deps, eventAbout } = context;
  const now = deps.instantClock.monotonic();
  deps.memory.recordInitialPods(() => list(Pod), now);
  const pod = get(Pod, parseKey(key));
  if (!pod) {
    deps.memory.forgetPod(key);
    return;
  }
  deps.memory.observePod(pod, now);
  if (pod.isTerminating) return;
  for (const { reason, message } of deps.parseAnnotation(pod.annotation).problems) {
    eventAbout(referenceTo(pod), 'Warning', reason, message);
  }
}
