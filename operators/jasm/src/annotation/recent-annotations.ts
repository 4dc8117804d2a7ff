import { memoByText } from '@bowline/machinery';
import { parsePodAnnotation } from './parse-pod-annotation.ts';
import type { PodAnnotation } from './secret-sync-request.ts';

/** MOST_REMEMBERED characters of annotations hold ten thousand different ones, as people write them, and more. */
export const MOST_REMEMBERED = 1_048_576;

/**
 * recentAnnotation is what an annotation says, whether there are such providers or not, with a memory: the pods of a workload share one
 * text, and each is seen many times.
 */
export const recentAnnotation: (text: string) => PodAnnotation = memoByText(
  (text) => parsePodAnnotation(text, undefined),
  MOST_REMEMBERED,
);
