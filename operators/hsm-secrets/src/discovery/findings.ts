import type { DiscoveryStatus } from '../reports/report.ts';
import type { FoundDevice } from './found-device.ts';

/** Findings is the latest result of searching the node. */
export interface Findings {
  readonly status: DiscoveryStatus;
  /** Empty unless the search is completed. */
  readonly devices: readonly FoundDevice[];
  /** Why the search failed, and the remedy. */
  readonly error: string | undefined;
  /** The wall time of the search. */
  readonly at: number;
}
