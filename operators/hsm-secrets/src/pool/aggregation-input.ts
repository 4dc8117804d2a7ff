import type { DeviceRow, PodRow } from '../api/hsm-pool.ts';
import type { Report } from '../reports/report.ts';

/** ObservedPod is a discovery pod as the manager observes it. */
export interface ObservedPod {
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  /** Undefined for a pod without a report, or whose report does not count. */
  readonly report: Report | undefined;
  /** Identifies the report. */
  readonly reportVersion?: string | undefined;
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
  /** When each report was first observed, by the uid of the pod. Defaults to when it was confirmed. */
  readonly observedAt?: (podUID: string) => number | undefined;
  /** The lists of the status as they were last written. */
  readonly previous: { readonly pods: readonly PodRow[]; readonly devices: readonly DeviceRow[] };
  /** Serial numbers that belong to the pool of an older HSMDevice. */
  readonly claimedSerials: ReadonlySet<string>;
}

/** isBacking reports whether a report, fresh or not, still vouches for the devices of its node. */
export function isBacking(
  { confirmedAt }: { readonly confirmedAt: number },
  { now, gracePeriodMs }: Pick<AggregationInput, 'now' | 'gracePeriodMs'>,
): boolean {
  return now <= confirmedAt + gracePeriodMs;
}
