const DECIMAL = /^[1-9][0-9]*$/;

/**
 * compareVersions orders two resourceVersions, or answers undefined when one of them is no number: then their order is
 * not defined (KEP-5504) and must not be guessed.
 */
export function compareVersions(left: string | undefined, right: string | undefined): number | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (!DECIMAL.test(left) || !DECIMAL.test(right)) return undefined;
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** isOlder is true only when both can be compared and the first is the lower one. */
export function isOlder(left: string | undefined, right: string | undefined): boolean {
  const order = compareVersions(left, right);
  return order !== undefined && order < 0;
}

/** reaches is true only when both can be compared and the first is at or past the second. */
export function reaches(left: string | undefined, right: string | undefined): boolean {
  const order = compareVersions(left, right);
  return order !== undefined && order >= 0;
}

/** newerOf is the higher of two versions; the one that is defined when only one is. */
export function newerOf(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined) return right;
  return isOlder(left, right) ? right : left;
}
