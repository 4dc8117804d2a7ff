import { memoizeByText } from '@bowline/machinery';
import { parsePodAnnotation } from './parse-pod-annotation.ts';
import type { PodAnnotation } from './secret-sync-request.ts';

/** MAX_REMEMBERED characters are enough for more than ten thousand different annotations of the usual size. */
export const MAX_REMEMBERED = 1_048_576;

/**
 * recentAnnotation parses an annotation, accepting any provider, and caches the result: the pods of a workload share
 * one text, and each is observed many times.
 */
export const recentAnnotation: (text: string) => PodAnnotation = memoizeByText(
  (text) => parsePodAnnotation(text, undefined),
  MAX_REMEMBERED,
);
