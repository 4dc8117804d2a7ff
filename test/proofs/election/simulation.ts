import { between, integerBelow, pick, seededRandom, VirtualClock } from '@bowline/machinery';
import { LeaderElector, type Leadership } from '@bowline/runtime/manager';
import {
  LeaseApi,
  type Link,
  leaseClient,
  SimulatedProcess,
} from '../../../packages/runtime/src/leader-election/lease-world.test-support.ts';

/** SimulationResult is the result of one simulated run of elections. */
export interface SimulationResult {
  readonly seed: number;
  readonly violations: readonly string[];
  /** How often the Lease changed its holder. */
  readonly acquisitions: number;
  /** The number of writes that a guard allowed. */
  readonly writes: number;
  /** The minimum time between the end of the previous holder's last possible write and a takeover. */
  readonly smallestMarginMs: number;
}

interface Replica {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly link: Link;
  leadership: Leadership | undefined;
}

interface Write {
  readonly by: string;
  readonly at: number;
  readonly endsBy: number;
}

const TIMING = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

/**
 * simulate runs three electors that compete for one Lease in virtual time while machines pause, suspend, lose their network and
 * change their clocks. The clock of the simulation decides: a write that a guard allowed at time t must be over, by the guard's
 * own timeout, when the claim of another holder is stored.
 */
export async function simulate(seed: number, durationMs = 600_000): Promise<SimulationResult> {
  const random = seededRandom(seed);
  const world = new VirtualClock();
  const api = new LeaseApi(world);
  const stop = new AbortController();
  const writes: Write[] = [];

  const replicas = ['a', 'b', 'c'].map((name): Replica & { run: Promise<void> } => {
    const process = new SimulatedProcess(world, between(random, -1, 1) * 86_400_000);
    const link: Link = { latencyMs: pick(random, [5, 100, 1_500, 4_000]), loss: 0 };
    const elector = new LeaderElector({
      client: leaseClient(api, world, process, random, link, name),
      lease: { namespace: 'simulated', name: 'simulated' },
      identity: name,
      wire: process,
      random,
      ...TIMING,
    });
    const replica: Replica = { name, process, link, leadership: undefined };
    return Object.assign(replica, { run: lead(elector, replica, stop.signal) });
  });

  function tryToWrite(replica: Replica): void {
    if (!replica.leadership || replica.process.isFrozen) return;
    try {
      replica.leadership.guard.assertMayWrite();
    } catch {
      return;
    }
    const at = world.monotonic();
    writes.push({ by: replica.name, at, endsBy: at + replica.leadership.guard.writeTimeoutMs });
  }

  while (world.monotonic() < durationMs) {
    const replica = pick(random, replicas);
    disturb(replica, integerBelow(random, 10), () => between(random, 0, 1));
    // Immediately, before any timer: the first action of a resumed process may be a write.
    tryToWrite(replica);
    const until = world.monotonic() + between(random, 200, 12_000);
    while (world.monotonic() < until) {
      await world.advance(Math.min(world.nextDueInMs ?? 250, 250, until - world.monotonic()));
      for (const each of replicas) tryToWrite(each);
    }
  }

  stop.abort();
  for (const replica of replicas) {
    replica.process.thaw();
    replica.link.loss = 0;
  }
  const settled = Promise.allSettled(replicas.map((replica) => replica.run));
  let over = false;
  void settled.then(() => {
    over = true;
  });
  while (!over) await world.advance(1_000);
  return { seed, writes: writes.length, ...judge(api, writes) };
}

async function lead(elector: LeaderElector, replica: Replica, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const leadership = await elector.acquire(signal);
    replica.leadership = leadership;
    await new Promise<void>((resolve) => {
      const done = AbortSignal.any([signal, leadership.lost]);
      if (done.aborted) resolve();
      else done.addEventListener('abort', () => resolve(), { once: true });
    });
    await leadership.release();
  }
}

function disturb(replica: Replica, kind: number, chance: () => number): void {
  const { process, link } = replica;
  switch (kind) {
    case 0:
    case 1:
      process.freeze('paused');
      return;
    case 2:
      process.freeze('suspended');
      return;
    case 3:
      link.loss = 1;
      return;
    case 4:
      link.loss = chance();
      return;
    case 5:
      link.latencyMs = 6_000 * chance();
      return;
    case 6:
      // Forward only: a clock set back during a suspend hides the suspend, which is documented.
      process.wallOffsetMs += 40_000 * chance();
      return;
    default:
      process.thaw();
      link.loss = 0;
      link.latencyMs = 100;
  }
}

function judge(api: LeaseApi, writes: readonly Write[]) {
  const violations: string[] = [];
  let smallestMarginMs = Number.POSITIVE_INFINITY;
  let acquisitions = 0;
  let holder = '';
  for (const commit of api.commits) {
    if (commit.holder === holder) continue;
    holder = commit.holder;
    if (holder === '') continue;
    acquisitions++;
    for (const write of writes) {
      // Only writes of other holders that started before this claim was stored; later ones are checked below.
      if (write.by === holder || write.at > commit.at) continue;
      const margin = commit.at - write.endsBy;
      if (releasedBetween(api, write, commit.at)) continue;
      smallestMarginMs = Math.min(smallestMarginMs, margin);
      if (margin < 0) violations.push(`${holder} acquired at ${commit.at}, ${write.by}'s write of ${write.at} may run`);
    }
  }
  for (const write of writes) {
    const current = api.commits.filter((commit) => commit.at <= write.at).at(-1);
    if (current && current.holder !== write.by) {
      violations.push(`${write.by} wrote at ${write.at} while ${current.holder || 'no process'} held the Lease`);
    }
  }
  return { violations, acquisitions, smallestMarginMs };
}

/** A holder that releases has drained before; its earlier writes are over whatever their timeout. */
function releasedBetween(api: LeaseApi, write: Write, until: number): boolean {
  return api.commits.some(
    (commit) => commit.by === write.by && commit.holder === '' && commit.at >= write.at && commit.at <= until,
  );
}
