import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The size of the nursery: the requests in flight of a busy operator fit, so that few of them are ever promoted. */
const NURSERY_BYTES = 4 * 2 ** 20;

/**
 * Two collections of the nursery within this time mean that a process allocates more than 1 MB/s, which is the nursery's
 * smallest size. Below that rate V8 shrinks it.
 */
const BUSY_MS = 1_000;

/**
 * preferSmallHeap tunes V8 for an operator, which keeps many objects for long, computes little and shares few cores
 * with other processes. Measured in docs/decisions/014. Call it before anything is cached.
 *
 * - The nursery, where new objects are allocated, has 4 MB while the process is busy. By default it starts with 1 MB and grows
 * to 16 MB twice while a cache fills.
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
  if (!isObserving) observeCollections();
  isObserving = true;
}

let isObserving = false;

/** An entry of the type `gc`, whose detail the general type lacks. */
interface Collection extends PerformanceEntry {
  readonly detail: { readonly kind?: number | undefined };
}

/**
 * observeCollections grows the nursery again when a process becomes busy. A full collection shrinks it to 1 MB if little was
 * allocated during the seconds before, or if memory is short, and would otherwise leave it so for good.
 */
function observeCollections(): void {
  let lastAt = Number.NEGATIVE_INFINITY;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { startTime, detail } = entry as Collection;
      if (detail.kind !== constants.NODE_PERFORMANCE_GC_MINOR) continue;
      const isBusy = startTime - lastAt < BUSY_MS;
      lastAt = startTime;
      if (isBusy && nurseryBytes() < NURSERY_BYTES) growNursery();
    }
  });
  observer.observe({ entryTypes: ['gc'] });
}

/**
 * growNursery grows the nursery to its size, which V8 otherwise accepts only on the command line: the nursery doubles
 * when enough objects have survived its collections, so objects are kept alive for that purpose. This takes a few
 * milliseconds; the rounds are bounded in case V8 changes its heuristics. Afterwards it does not grow any more.
 */
function growNursery(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
  const survivors: (readonly number[])[] = [];
  for (let round = 0; round < 100 && nurseryBytes() < NURSERY_BYTES; round++) {
    for (let index = 0; index < 1000; index++) survivors.push([index]);
  }
  setFlagsFromString('--semi-space-growth-factor=1');
}

function nurseryBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? NURSERY_BYTES;
}
