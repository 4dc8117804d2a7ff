import { compareResourceVersions } from '@bowline/machinery';

/** isOlder returns true only if both versions can be compared and the first is lower. */
export function isOlder(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  return compareResourceVersions(left, right) === -1;
}

/** reaches returns true only if both versions can be compared and the first is at or past the second. */
export function reaches(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const order = compareResourceVersions(left, right);
  return order === 0 || order === 1;
}

/** newerOf returns the higher of two versions, or the one that is defined. */
export function newerOf(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined) return right;
  return isOlder(left, right) ? right : left;
}
