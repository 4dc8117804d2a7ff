import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** How large the nursery is: the requests in flight of a busy operator fit, so that little of them is ever moved. */
const NURSERY_BYTES = 4 * 2 ** 20;

/**
 * preferSmallHeap makes V8 spend memory and processor time like an operator, which keeps much for long, computes little and
 * shares few cores with others. Measured in docs/decisions/014. Call it before anything is cached.
 *
 * - The nursery, where new objects are made, has 4 MB. By default it begins with 1 MB, grows to 16 MB twice while a cache fills,
 *   and never shrinks.
 * - It is collected by one thread. By default that one waits for up to four others to take part, which on busy cores takes longer
 *   than the work.
 * - Old objects are collected when they have doubled. By default they may grow fourfold.
 * - Less is inlined into compiled functions. Compiling them is a third of what the first thousand writes cost, and inlining most
 *   of that; code that mostly waits for the network runs as fast without.
 */
export function preferSmallHeap(): void {
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');
  growNursery();
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * growNursery gives the nursery its size, which V8 takes on the command line only: it doubles when enough has survived its
 * collections, so something is made to survive. That takes a few milliseconds; the rounds are bounded in case V8 changes its mind.
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
