import { formatMicroTime, parseTime } from '@bowline/machinery';
import type { DeviceRow, PodRow } from '../api/hsm-pool.ts';
import { aggregateDevices, type DuplicateSerial } from './aggregate-devices.ts';
import { type AggregationInput, isBacking } from './aggregation-input.ts';
import { type PodState, podStates } from './pod-states.ts';

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
    nextChangeAt: deadlines.reduce<number | undefined>((first, each) => Math.min(first ?? each, each), undefined),
  };
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
