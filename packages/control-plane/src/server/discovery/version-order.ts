const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STABILITY: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/**
 * compareVersions sorts versions in the order that Kubernetes prefers: `v2`, `v1`, `v1beta2`, `v1beta1`, `v1alpha1`,
 * followed by everything that does not look like a version, by name.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [VERSION.exec(a), VERSION.exec(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const rank = (found: RegExpExecArray): readonly number[] => [
    STABILITY[found[2] ?? ''] ?? 2,
    Number(found[1]),
    Number(found[3] ?? 0),
  ];
  const [ours, theirs] = [rank(left), rank(right)];
  for (const [index, value] of ours.entries()) if (value !== theirs[index]) return (theirs[index] ?? 0) - value;
  return 0;
}
