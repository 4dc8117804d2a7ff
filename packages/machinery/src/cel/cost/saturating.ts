/**
 * MAX_COST represents the largest unsigned 64-bit integer: the API server's estimates saturate there instead of
 * overflowing. Costs are doubles here. They are exact up to 2^53, far above every limit that they are compared with.
 */
export const MAX_COST = 2 ** 64;

const MAX_UNSATURATED = MAX_COST - 2048;

/** add adds costs or sizes. */
export function add(a: number, b: number): number {
  return Math.min(a + b, MAX_COST);
}

/** times multiplies costs or sizes. */
export function times(a: number, b: number): number {
  return Math.min(a * b, MAX_COST);
}

/** scale multiplies a cost or size by a factor and rounds up. */
export function scale(value: number, factor: number): number {
  return Math.min(Math.ceil(value * factor), MAX_COST);
}

/** wrap performs a 64-bit integer computation that overflows in the API server: it wraps around to zero. */
export function wrap(value: number, compute: (exact: bigint) => bigint): number {
  const exact = value >= MAX_COST ? 2n ** 64n - 1n : BigInt(value);
  // A result that does not saturate must not equal the maximum, or the next computation would overflow where the
  // server's does not.
  return Math.min(Number(BigInt.asUintN(64, compute(exact))), MAX_UNSATURATED);
}
