const nursery =
  "V8's nursery grows to its default of 16 MB twice while the cache fills; the bare loop shows the same, and the row with a small heap, which is how `runUntilSignal` runs an operator, shows what remains without it";

/**
 * reasons says, per target, what a profile showed to cost too much; printed only where the target was missed. An entry is
 * removed when its cause is.
 */
const reasons: Readonly<Record<string, string>> = {
  'cold-sync-time': 'each network chunk of about 4 kB costs one turn of two async generators',
  'cold-sync-peak-go': nursery,
  'cold-sync-peak-client-node': nursery,
};

/** whyMissed is the known reason why this target is missed. */
export function whyMissed(target: string): string | undefined {
  return reasons[target];
}
