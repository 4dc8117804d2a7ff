/** Summary describes the samples of one subject. */
export interface Summary {
  readonly rounds: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** percentile returns the value below which `fraction` (0 to 1) of the samples lie, interpolated between neighbours. */
export function percentile(samples: readonly number[], fraction: number): number {
  if (samples.length === 0) throw new RangeError('cannot compute a percentile of no samples');
  const sorted = [...samples].sort((a, b) => a - b);
  const position = Math.min(Math.max(fraction, 0), 1) * (sorted.length - 1);
  const below = Math.floor(position);
  const lower = sorted[below] ?? Number.NaN;
  const upper = sorted[Math.ceil(position)] ?? Number.NaN;
  return lower + (upper - lower) * (position - below);
}

/** summarize summarizes samples; it uses the median because one disturbed round must not decide. */
export function summarize(samples: readonly number[]): Summary {
  return {
    rounds: samples.length,
    median: percentile(samples, 0.5),
    min: percentile(samples, 0),
    max: percentile(samples, 1),
  };
}

/** rotate starts the list at `offset`, so that no subject always runs first. */
export function rotate<T>(items: readonly T[], offset: number): readonly T[] {
  if (items.length === 0) return items;
  const start = offset % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
