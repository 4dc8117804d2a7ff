import { compareResourceVersions } from '@bowline/machinery';

/** isOlder is true only when both can be compared and the first is the lower one. */
export function isOlder(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  return compareResourceVersions(left, right) === -1;
}

/** reaches is true only when both can be compared and the first is at or past the second. */
export function reaches(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const order = compareResourceVersions(left, right);
  return order === 0 || order === 1;
}

/** newerOf is the higher of two versions; the one that is defined when only one is. */
export function newerOf(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined) return right;
  return isOlder(left, right) ? right : left;
}
