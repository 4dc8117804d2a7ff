import { describeProblems, type FieldProblem } from '@bowline/machinery';
import { admit, deny } from '@bowline/runtime';
import type { ReadClient, ValidatingResponse } from '@bowline/runtime/webhook';
import { readLive, type SharedObjects } from '../operand/shared-objects.ts';
import { readSingletons, type SingletonReads } from '../operand/singletons.ts';

/** Change is what a request does to an object. */
export interface Change<T> {
  /** The object before the request; undefined if the request creates it. */
  readonly before: T | undefined;
  readonly after: T;
}

/** Review is the result for a change: it is refused if there are problems. Warnings are about changes that are not. */
export interface Review {
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly string[];
}

/** invalid returns the problem of a field whose value is refused. */
export function invalid(field: string, value: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

/** unusable returns the problem of a field whose value is refused and may be a secret, so that it is not repeated. */
export function unusable(field: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` };
}

/** Reviewer reviews one change among the five objects. */
export type Reviewer = (objects: SharedObjects) => Review;

/**
 * respondTo answers a request. The cache may be older than what the user wrote just before, for example the other files
 * of one `kubectl apply`, so a request is never refused, and its user never warned, because of the cache.
 */
export async function respondTo(
  request: SingletonReads & { readonly live: Pick<ReadClient, 'find'> },
  review: Reviewer,
  onDenied: (problems: readonly FieldProblem[]) => void,
): Promise<ValidatingResponse> {
  const cached = review(readSingletons(request));
  if (cached.problems.length === 0 && cached.warnings.length === 0) return admit();
  const { problems, warnings } = review(await readLive(request.live));
  if (problems.length === 0) return admit({ warnings });
  onDenied(problems);
  return deny({ message: describeProblems(problems), causes: problems });
}
