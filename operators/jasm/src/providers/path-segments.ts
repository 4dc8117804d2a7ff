import { quoteText } from '@bowline/machinery';
import { PathInvalid } from './provider-error.ts';

/**
 * The characters of a segment: no percent signs, queries, fragments, backslashes or spaces, which a server may
 * interpret differently.
 */
const SEGMENT = /^[\w.@:+=,~-]+$/;

/** The maximum length of a path in a message. */
const MAX_SHOWN_LENGTH = 200;

/**
 * pathSegments splits a path into its segments. It throws PathInvalid, with a message that ends in the path format, for
 * a path with an empty segment, with `.` or `..`, or with characters that might identify another secret to the server
 * than to a policy.
 */
export function pathSegments(path: string, pathFormat: string): readonly string[] {
  const segments = path.split('/');
  if (segments.includes('')) throw invalidPath(path, 'has an empty segment', pathFormat);
  const wrong = segments.find((segment) => !SEGMENT.test(segment));
  if (wrong !== undefined) {
    throw invalidPath(path, 'may contain only letters, digits, slashes and any of _ - . @ : + = , ~', pathFormat);
  }
  if (segments.some((segment) => /^\.+$/.test(segment))) {
    throw invalidPath(path, 'has a segment that consists of dots', pathFormat);
  }
  return segments;
}

/** invalidPath returns the error for a path that is not valid for its provider. */
export function invalidPath(path: string, problem: string, pathFormat: string): PathInvalid {
  const shown = path.length > MAX_SHOWN_LENGTH ? `${path.slice(0, MAX_SHOWN_LENGTH)}…` : path;
  return new PathInvalid(`the path ${quoteText(shown)} ${problem}; a path is ${pathFormat}`);
}
