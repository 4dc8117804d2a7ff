/**
 * isResourceVersion reports whether a resourceVersion can be compared: a decimal number without leading zeros, of any
 * length (KEP-5504). The special values `''` and `'0'` mean "any" and have no order; neither do the values of an
 * aggregated API server that uses its own format.
 */
export function isResourceVersion(text: string): boolean {
  const length = text.length;
  if (length === 0 || text.charCodeAt(0) === ZERO) return false;
  for (let index = 0; index < length; index++) {
    const digit = text.charCodeAt(index);
    if (digit < ZERO || digit > NINE) return false;
  }
  return true;
}

const ZERO = 48;
const NINE = 57;

/**
 * compareResourceVersions returns -1, 0 or 1 if `a` is older than, the same as or newer than `b`, both of the same kind
 * and cluster. It returns undefined if either cannot be compared, so that the caller has to handle this case: the type
 * checker rejects a bare `compareResourceVersions(a, b) < 0`.
 *
 * It runs once per watch event: numbers beyond 2^53 are compared as text, and nothing is allocated.
 */
export function compareResourceVersions(a: string, b: string): -1 | 0 | 1 | undefined {
  if (!isResourceVersion(a) || !isResourceVersion(b)) return undefined;
  if (a === b) return 0;
  // Without leading zeros, the longer number is larger, and numbers of the same length sort as text.
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return a < b ? -1 : 1;
}
