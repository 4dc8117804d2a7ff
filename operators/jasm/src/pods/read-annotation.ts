import { memoizeByText } from '@bowline/machinery';
import { parsePodAnnotation } from '../annotation/parse-pod-annotation.ts';
import { MAX_REMEMBERED, recentAnnotation } from '../annotation/recent-annotations.ts';
import type { AnnotationProblem, PodAnnotation, SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { PathInvalid } from '../providers/provider-error.ts';
import type { ConfiguredKind } from '../providers/provider-kinds.ts';

/**
 * annotationReader parses the annotations of pods and checks them against the configured providers: an entry whose path
 * is invalid for its provider is as wrong as one that names an unknown provider.
 */
export function annotationReader(kinds: ReadonlyMap<string, ConfiguredKind>): (text: string) => PodAnnotation {
  const known = [...kinds.keys()];
  return memoizeByText((text) => {
    const { requests, problems } = parseWithProviders(text, kinds, known);
    const wrong = requests.flatMap((request) => pathProblem(request, kinds));
    if (wrong.length === 0) return { requests, problems };
    return {
      requests: requests.filter((request) => pathProblem(request, kinds).length === 0),
      problems: [...problems, ...wrong],
    };
  }, MAX_REMEMBERED);
}

/**
 * The index of the cache has parsed every annotation before. An annotation is parsed again only if there may be more
 * problems to report.
 */
function parseWithProviders(
  text: string,
  kinds: ReadonlyMap<string, ConfiguredKind>,
  known: readonly string[],
): PodAnnotation {
  const recent = recentAnnotation(text);
  const isValid = recent.problems.length === 0 && recent.requests.every(({ provider }) => kinds.has(provider));
  return isValid ? recent : parsePodAnnotation(text, known);
}

function pathProblem(
  request: SecretSyncRequest,
  kinds: ReadonlyMap<string, ConfiguredKind>,
): readonly AnnotationProblem[] {
  const { provider, path, field } = request;
  try {
    kinds.get(provider)?.names(path);
    return [];
  } catch (error) {
    if (!(error instanceof PathInvalid)) throw error;
    const where = field === '' ? 'path' : `${field}.path`;
    return [{ reason: 'AnnotationInvalid', message: `${where}: Invalid value: ${error.message}` }];
  }
}
