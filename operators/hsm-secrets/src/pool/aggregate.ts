import { formatMicroTime, parseTime } from '@bowline/machinery';
import type { DeviceRow, PodRow } from '../api/hsm-pool.ts';
import type { Report } from '../reports/report.ts';
import { aggregateDevices, type DuplicateSerial } from './aggregate-devices.ts';
import { type PodState, podStates } from './pod-states.ts';

/** ObservedPod is a discovery pod as the manager observes it. */
export interface ObservedPod {
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  /** Undefined for a pod without a report, or whose report does not count. */
  readonly report: Report | undefined;
}

/** AggregationInput is everything that the content of a pool follows from. */
export interface AggregationInput {
  /** By the manager's clock, in milliseconds. */
  readonly now: number;
  readonly gracePeriodMs: number;
  /** The pods that exist and have not ended, and whose reports are for this pool. */
  readonly livePods: readonly ObservedPod[];
  /** When each report was last confirmed, by the uid of the pod. */
  readonly confirmedAt: (podUID: string) => number | undefined;
  /** The lists of the status as they were last written. */
  readonly previous: { readonly pods: readonly PodRow[]; readonly devices: readonly DeviceRow[] };
  /** Serial numbers that belong to the pool of an older HSMDevice. */
  readonly claimedSerials: ReadonlySet<string>;
}

/** Aggregation is the content of a pool. */
export interface Aggregation {
  /** Ordered by name. */
  readonly pods: readonly PodRow[];
  /** Ordered by id. */
  readonly devices: readonly DeviceRow[];
  readonly duplicates: readonly DuplicateSerial[];
  /** When the content changes without any further report; undefined if it does not. */
  readonly nextChangeAt: number | undefined;
}

/**
 * aggregate derives the pods and devices of a pool from the reports, the time and what was known before. A device is
 * available as long as its node is backed: until the grace period after the last confirmation of a report has ended,
 * whether or not the pod still exists. Only a newer report of the same node contradicts it earlier.
 */
export function aggregate(input: AggregationInput): Aggregation {
  const { now, gracePeriodMs } = input;
  const states = podStates(input);
  const backing = states.filter((state) => state.isLive || isBacking(state, input));
  const { devices, duplicates } = aggregateDevices(states, input);
  const deadlines = [
    ...states.filter((state) => isBacking(state, input)).map(({ confirmedAt }) => confirmedAt + gracePeriodMs + 1),
    ...devices.flatMap(({ lostSince }) => (lostSince ? [parseTime(lostSince) + gracePeriodMs + 1] : [])),
  ].filter((deadline) => deadline > now);
  return {
    pods: backing.map((state) => rowOf(state, input)).sort((a, b) => (a.podName < b.podName ? -1 : 1)),
    devices,
    duplicates,
    nextChangeAt: deadlines.length === 0 ? undefined : Math.min(...deadlines),
  };
}

/** isBacking reports whether a report, fresh or not, still vouches for the devices of its node. */
export function isBacking(
  { confirmedAt }: Pick<PodState, 'confirmedAt'>,
  { now, gracePeriodMs }: Pick<AggregationInput, 'now' | 'gracePeriodMs'>,
): boolean {
  return now <= confirmedAt + gracePeriodMs;
}

function rowOf(state: PodState, input: AggregationInput): PodRow {
  const { name, uid, nodeName, devicesFound, lastReportTime, discoveryStatus, error, confirmedAt, isLive } = state;
  return {
    podName: name,
    podUID: uid,
    nodeName,
    devicesFound,
    lastReportTime,
    observedTime: formatMicroTime(confirmedAt),
    discoveryStatus,
    error,
    fresh: isLive && isBacking(state, input),
  };
}
