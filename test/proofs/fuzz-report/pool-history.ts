import { formatMicroTime, integerBelow, pick, type Random } from '@bowline/machinery';
import type { DeviceRow, PodRow } from '../../../operators/hsm-secrets/src/api/hsm-pool.ts';
import { MAX_DEVICES, MAX_POD_ROWS } from '../../../operators/hsm-secrets/src/api/pool-status.ts';
import type { Aggregation } from '../../../operators/hsm-secrets/src/pool/aggregate.ts';
import type { AggregationInput, ObservedPod } from '../../../operators/hsm-secrets/src/pool/aggregation-input.ts';
import { parseReport } from '../../../operators/hsm-secrets/src/reports/parse-report.ts';
import type { Report } from '../../../operators/hsm-secrets/src/reports/report.ts';
import { chance, manyDevices, randomReport } from './report-values.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const NODES = ['node-1', 'node-2', 'node-3', 'n'.repeat(253)];
const GRACE_PERIODS = [3_000, 300_000, 86_400_000];
const MAX_PODS = 8;
/** Enough nodes to report more devices than a function may have arguments. */
const CROWD = 150;
/** Enough nodes to notice work that grows with the square of the number of devices. */
const CROWD_WITH_ONE_SERIAL = 60;

/** PoolHistory generates the inputs of successive aggregations of one pool: pods come, go and change, and time passes. */
export class PoolHistory {
  readonly #random: Random;
  readonly #report: Report;
  readonly #gracePeriodMs: number;
  readonly #confirmed = new Map<string, number>();
  readonly #claimed = new Set<string>();
  #pods: ObservedPod[] = [];
  #now = START;
  #count = 0;

  constructor(random: Random, report: Report) {
    this.#random = random;
    this.#report = report;
    this.#gracePeriodMs = pick(random, GRACE_PERIODS);
    if (chance(random, 0.2)) this.#claimed.add('1').add('__proto__');
  }

  /** next returns the next input. The previous status is that of the last aggregation, as far as a status can hold it. */
  next(last: Aggregation | undefined): AggregationInput {
    const random = this.#random;
    if (last) this.#now += this.#pause();
    const isCrowded = last === undefined && chance(random, 0.0002);
    if (isCrowded) this.#crowd();
    else this.#change();
    const previous = last
      ? { pods: last.pods.slice(0, MAX_POD_ROWS), devices: last.devices.slice(0, MAX_DEVICES) }
      : this.#status();
    const live = new Set(this.#pods.map(({ uid }) => uid));
    for (const { podUID, fresh } of previous.pods)
      if (fresh && !live.has(podUID)) this.#confirmed.set(podUID, this.#now);
    const confirmed = new Map(this.#confirmed);
    return {
      now: this.#now,
      gracePeriodMs: this.#gracePeriodMs,
      livePods: this.#pods,
      confirmedAt: (uid) => confirmed.get(uid),
      previous,
      claimedSerials: this.#claimed,
    };
  }

  #pause(): number {
    const grace = this.#gracePeriodMs;
    return pick(this.#random, [
      0,
      1,
      grace - 1,
      grace,
      grace + 1,
      2 * grace + 1,
      integerBelow(this.#random, 3 * grace),
    ]);
  }

  #change(): void {
    const random = this.#random;
    if (this.#count === 0) this.#add(this.#report);
    for (let left = integerBelow(random, 4); left > 0; left--) {
      if (chance(random, 0.5) && this.#pods.length < MAX_PODS) this.#add(this.#otherReport());
      else if (chance(random, 0.5)) this.#pods = this.#pods.slice(1);
      else this.#confirm(pick(random, this.#pods.length > 0 ? this.#pods : [this.#add(undefined)]));
    }
  }

  /** Every node reports as many devices as it may. */
  #crowd(): void {
    const isRepeated = chance(this.#random, 0.3);
    const parsed = parseReport(JSON.stringify(manyDevices(this.#random, MAX_DEVICES, isRepeated)));
    if (!('report' in parsed)) throw new TypeError(parsed.problem);
    const nodes = isRepeated ? CROWD_WITH_ONE_SERIAL : CROWD;
    for (let node = 0; node < nodes; node++) this.#add(parsed.report, `node-${node}`);
  }

  #otherReport(): Report | undefined {
    const parsed = parseReport(JSON.stringify(randomReport(this.#random)));
    return 'report' in parsed ? parsed.report : undefined;
  }

  #add(report: Report | undefined, nodeName = pick(this.#random, NODES)): ObservedPod {
    const number = this.#count++;
    // A pod may have the name of one that is gone.
    const pod = { name: `discovery-${chance(this.#random, 0.2) ? 0 : number}`, uid: `uid-${number}`, nodeName, report };
    this.#pods.push(pod);
    if (chance(this.#random, 0.8))
      this.#confirmed.set(pod.uid, this.#now - pick(this.#random, [0, 0, 1, this.#gracePeriodMs]));
    return pod;
  }

  #confirm(pod: ObservedPod): void {
    this.#confirmed.set(pod.uid, this.#now);
    if (chance(this.#random, 0.5))
      this.#pods = this.#pods.map((each) => (each === pod ? { ...pod, report: this.#otherReport() } : each));
  }

  /** A status that another manager wrote before this one started, perhaps an older version of it. */
  #status(): AggregationInput['previous'] {
    const random = this.#random;
    if (chance(random, 0.5)) return { pods: [], devices: [] };
    const time = (): string => formatMicroTime(START - integerBelow(random, 3 * this.#gracePeriodMs));
    const pods = Array.from({ length: integerBelow(random, 4) }, (_, index): PodRow => {
      return {
        podName: `earlier-${index}`,
        podUID: `earlier-${index}`,
        nodeName: pick(random, NODES),
        devicesFound: integerBelow(random, 3),
        observedTime: time(),
        discoveryStatus: pick(random, ['discovering', 'completed', 'error']),
        fresh: chance(random, 0.5),
      };
    });
    const devices = ['0', '1', 'DC6A33145E23A42A', 'node-1:/dev/a'].map((id): DeviceRow => {
      const available = chance(random, 0.5);
      return {
        id,
        devicePath: '/dev/a',
        serialNumber: id.includes(':') ? undefined : id,
        nodeName: id.includes(':') ? 'node-1' : pick(random, NODES),
        lostSince: available ? undefined : time(),
        available,
        health: available
          ? pick(random, ['Healthy', 'Stale'])
          : pick(random, ['Unplugged', 'Claimed', 'Unknown', 'Stale']),
      };
    });
    return { pods, devices: devices.filter(() => chance(random, 0.7)) };
  }
}
