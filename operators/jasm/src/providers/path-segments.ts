import { quoteText } from '@bowline/machinery';
import { PathInvalid } from './provider-error.ts';

/** What stands in a segment: no percent signs, queries, fragments, backslashes or spaces, which a server may read in a way of its own. */
const SEGMENT = /^[\w.@:+=,~-]+$/;

/** As much of a path as a message shows. */
const LONGEST_SHOWN = 200;

/**
 * pathSegments is a path as its segments. It throws PathInvalid, ending in what a path looks like, for one with an empty segment,
 * with `.` or `..`, or with characters that might mean another secret to the server than to a policy.
 */
export function pathSegments(path: string, pathFormat: string): readonly string[] {
  const segments = path.split('/');
  if (segments.includes('')) throw invalidPath(path, 'has an empty segment', pathFormat);
  const wrong = segments.find((segment) => !SEGMENT.test(segment));
  if (wrong !== undefined) {
    throw invalidPath(path, 'may hold letters, digits, slashes and any of _ - . @ : + = , ~', pathFormat);
  }
  if (segments.some((segment) => /^\.+$/.test(segment))) {
    throw invalidPath(path, 'has a segment of dots', pathFormat);
  }
  return segments;
}

/** invalidPath is the error for a path that its provider cannot have. */
export function invalidPath(path: string, problem: string, pathFormat: string): PathInvalid {
  const shown = path.length > LONGEST_SHOWN ? `${path.slice(0, LONGEST_SHOWN)}…` : path;
  return new PathInvalid(`the path ${quoteText(shown)} ${problem}; a path is ${pathFormat}`);
}
