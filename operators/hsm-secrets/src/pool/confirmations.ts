import { type Clock, parseTime } from '@bowline/machinery';
import type { PodRow } from '../api/hsm-pool.ts';
import { heartbeatMs } from '../reports/heartbeat.ts';

interface Confirmation {
  /** The `lastReportTime` of the report; undefined for a pod that is gone. */
  readonly reportTime: string | undefined;
  /** When the manager confirmed it, by the manager's clock. */
  readonly at: number;
}

/**
 * Confirmations remembers when the manager last observed a change of each pod's report, and once more when it observed
 * that the pod is gone. Only the manager's clock counts: the clocks of nodes may be wrong. A heartbeat costs one entry
 * of a map, and no write.
 */
export class Confirmations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #byPod = new Map<string, Confirmation>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** confirmedAt returns when a pod was last confirmed; undefined if it was not observed since the manager started. */
  confirmedAt(podUID: string): number | undefined {
    return this.#byPod.get(podUID)?.at;
  }

  /**
   * observe records the report of a pod. A report that is new or has changed is confirmed now. The first observation
   * after a start follows from the row that the status has.
   */
  observe(podUID: string, reportTime: string, row: PodRow | undefined, gracePeriodMs: number): void {
    const before = this.#byPod.get(podUID);
    if (before?.reportTime === reportTime) return;
    const isFirst = before === undefined && row !== undefined;
    const at = isFirst ? this.#resumedAt(row, reportTime, gracePeriodMs) : this.#clock.now();
    this.#byPod.set(podUID, { reportTime, at });
  }

  /**
   * observeGone records that a pod no longer exists or has ended. The grace period of its devices begins with the first
   * such observation, also if another manager made it.
   */
  observeGone(row: PodRow): void {
    const before = this.#byPod.get(row.podUID);
    if (before && before.reportTime === undefined) return;
    const at = row.fresh ? this.#clock.now() : parseTime(row.observedTime);
    this.#byPod.set(row.podUID, { reportTime: undefined, at });
  }

  /** keepOnly forgets all pods but the given ones. */
  keepOnly(podUIDs: ReadonlySet<string>): void {
    for (const uid of this.#byPod.keys()) if (!podUIDs.has(uid)) this.#byPod.delete(uid);
  }

  /**
   * A pod that was fresh has two heartbeats to be confirmed: how long it was silent before the start is not known. One
   * that was stale stays so until its report changes.
   */
  #resumedAt(row: PodRow, reportTime: string, gracePeriodMs: number): number {
    const now = this.#clock.now();
    if (!row.fresh) return row.lastReportTime === reportTime ? parseTime(row.observedTime) : now;
    return now - gracePeriodMs + Math.min(gracePeriodMs, 2 * heartbeatMs(gracePeriodMs));
  }
}
