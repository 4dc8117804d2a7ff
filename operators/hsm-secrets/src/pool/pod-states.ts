import { parseTime } from '@bowline/machinery';
import type { PodRow } from '../api/hsm-pool.ts';
import type { Report } from '../reports/report.ts';
import type { AggregationInput } from './aggregation-input.ts';

/** PodState is the latest known report of a pod, and when it was last confirmed. */
export interface PodState
  extends Pick<PodRow, 'nodeName' | 'devicesFound' | 'lastReportTime' | 'discoveryStatus' | 'error'> {
  readonly name: string;
  readonly uid: string;
  readonly isLive: boolean;
  readonly confirmedAt: number;
  /** When its report was first observed, which is when it contradicts what was known before. */
  readonly observedAt: number;
  /** The report itself; undefined if only its summary in the status is known. */
  readonly report: Report | undefined;
}

/**
 * podStates returns the states of all pods that have reported: those with a report now, and those of the previous
 * status, which may be gone, or whose report does not count any more.
 */
export function podStates({ now, livePods, confirmedAt, observedAt, previous }: AggregationInput): readonly PodState[] {
  const live = new Map(livePods.map((pod) => [pod.uid, pod]));
  const states: PodState[] = [];
  for (const { name, uid, nodeName, report } of livePods) {
    if (!report) continue;
    const { discoveredDevices, lastReportTime, discoveryStatus, error } = report;
    states.push({
      name,
      uid,
      nodeName,
      isLive: true,
      // A report that was observed but not yet confirmed is confirmed by this observation.
      confirmedAt: confirmedAt(uid) ?? now,
      observedAt: observedAt?.(uid) ?? confirmedAt(uid) ?? now,
      devicesFound: discoveredDevices.length,
      lastReportTime,
      discoveryStatus,
      error,
      report,
    });
  }
  for (const row of previous.pods) {
    const pod = live.get(row.podUID);
    if (pod?.report) continue;
    const { podName, podUID, observedTime, nodeName, devicesFound, lastReportTime, discoveryStatus, error } = row;
    const confirmed = confirmedAt(podUID) ?? parseTime(observedTime);
    states.push({
      name: podName,
      uid: podUID,
      nodeName,
      isLive: pod !== undefined,
      confirmedAt: confirmed,
      observedAt: confirmed,
      devicesFound,
      lastReportTime,
      discoveryStatus,
      error,
      report: undefined,
    });
  }
  return states;
}
