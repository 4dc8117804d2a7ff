import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The size of the nursery: the requests in flight of a busy operator fit, so that few of them are ever promoted. */
const NURSERY_BYTES = 4 * 2 ** 20;

/**
 * preferSmallHeap tunes V8 for an operator, which keeps many objects for long, computes little and shares few cores
 * with other processes. Measured in docs/decisions/014. Call it before anything is cached.
 *
 * - The nursery, where new objects are allocated, has 4 MB. By default it starts with 1 MB, grows to 16 MB twice while a cache
 * fills,
 * and never shrinks.
 * - It is collected by one thread. By default that thread waits for up to four others to take part, which takes longer than the
 * work
 * on busy cores.
 * - Old objects are collected when they have doubled. By default they may grow fourfold.
 * - Less is inlined into compiled functions. Compiling is a third of the cost of the first thousand writes, and inlining is most
 * of
 * that; code that mostly waits for the network runs as fast without.
 */
export function preferSmallHeap(): void {
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');
  growNursery();
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * growNursery grows the nursery to its size, which V8 otherwise accepts only on the command line: the nursery doubles
 * when enough objects have survived its collections, so objects are kept alive for that purpose. This takes a few
 * milliseconds; the rounds are bounded in case V8 changes its heuristics.
 */
function growNursery(): void {
  const survivors: (readonly number[])[] = [];
  for (let round = 0; round < 100 && nurseryBytes() < NURSERY_BYTES; round++) {
    for (let index = 0; index < 1000; index++) survivors.push([index]);
  }
}

function nurseryBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? NURSERY_BYTES;
}
