import { isDeepStrictEqual } from 'node:util';
import { formatTime } from '@bowline/machinery';
import type { DeviceRow, PodRow, PoolStatus } from '../api/hsm-pool.ts';
import { MAX_DEVICES, MAX_POD_ROWS } from '../api/pool-status.ts';
import { availableCount, type PoolFacts } from './pool-facts.ts';

/** The part of the status that the aggregation writes. */
type Fields = Pick<
  PoolStatus,
  | 'phase'
  | 'totalDevices'
  | 'availableDevices'
  | 'expectedPods'
  | 'reportingPodCount'
  | 'lastAggregationTime'
  | 'reportingPods'
  | 'aggregatedDevices'
>;

/**
 * fieldsOf returns the fields of a status that differ from the previous ones, or undefined if nothing changes but times:
 * these change only together with content.
 */
export function fieldsOf(facts: PoolFacts, previous: Partial<PoolStatus>, now: number): Fields | undefined {
  const { phase, expectedPods, pods, devices } = facts;
  const next: Fields = {
    phase,
    totalDevices: devices.length,
    availableDevices: availableCount(facts),
    expectedPods,
    reportingPodCount: pods.length,
    reportingPods: pods.slice(0, MAX_POD_ROWS),
    aggregatedDevices: devices.slice(0, MAX_DEVICES),
  };
  return isDeepStrictEqual(contentOf(next), contentOf(previous))
    ? undefined
    : { ...next, lastAggregationTime: formatTime(now) };
}

function contentOf(status: Partial<PoolStatus>): object {
  const { phase, totalDevices, availableDevices, expectedPods, reportingPodCount } = status;
  return {
    ...{ phase, totalDevices, availableDevices, expectedPods, reportingPodCount },
    pods: (status.reportingPods ?? []).map(timelessPod),
    devices: (status.aggregatedDevices ?? []).map(timelessDevice),
  };
}

/** JSON drops members that are undefined: a stored row has none. */
function timelessPod({ lastReportTime: _, observedTime: __, ...row }: PodRow): object {
  return withoutUndefined(row);
}

function timelessDevice({ lastSeen: _, ...row }: DeviceRow): object {
  return withoutUndefined(row);
}

function withoutUndefined(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}
