import { memoByText } from '@bowline/machinery';
import { parsePodAnnotation } from './parse-pod-annotation.ts';
import type { PodAnnotation } from './secret-sync-request.ts';

// A thousand different annotations, as people write them, and more.
const MOST_CHARACTERS = 1_048_576;

/** recentAnnotations is `parsePodAnnotation` with a memory: the pods of a workload share one text, and each is seen many times. */
export function recentAnnotations(known: readonly string[] | undefined): (text: string) => PodAnnotation {
  return memoByText((text) => parsePodAnnotation(text, known), MOST_CHARACTERS);
}
