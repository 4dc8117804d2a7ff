const nursery =
  "V8's nursery grows to its default of 16 MB twice while the cache fills; the bare loop shows the same, and the row with a bounded nursery what remains without it; about 10 MB of it are the first snapshot being copied into the store object by object (`StoreTarget.commit`) instead of being adopted";

/**
 * reasons says, per target, what a profile showed to cost too much; printed only where the target was missed. An entry is
 * removed when its cause is.
 */
const reasons: Readonly<Record<string, string>> = {
  'cold-sync-time':
    'the first snapshot is copied into the store with one change and one event made per object although nobody has subscribed (about a tenth of the sync, `StoreTarget.commit`), and each network chunk of about 4 kB costs one turn of two async generators',
  'cold-sync-peak-go': nursery,
  'cold-sync-peak-client-node': nursery,
};

/** whyMissed is the known reason why this target is missed. */
export function whyMissed(target: string): string | undefined {
  return reasons[target];
}
