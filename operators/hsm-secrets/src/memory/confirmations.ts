import { type Clock, parseTime } from '@bowline/machinery';
import type { PodRow } from '../api/hsm-pool.ts';
import { heartbeatMs } from '../reports/heartbeat.ts';

/** ObservedReport identifies a report of a pod. */
export interface ObservedReport {
  readonly podUID: string;
  /** Differs for every report of a pod. */
  readonly version: string;
  /** By the clock of the node. */
  readonly lastReportTime: string;
}

interface Confirmation {
  /** Undefined for a pod that no longer exists or has ended. */
  readonly version: string | undefined;
  /** When the manager confirmed it, by the manager's clock; after a start, as much earlier as the pod has less time. */
  readonly at: number;
  /** When the manager first observed this report. */
  readonly observedAt: number;
  /** Whether the pod's current report does not count, so that its heartbeats confirm nothing. */
  readonly isRefused: boolean;
  /** How far the clock of the node is ahead. Undefined until a report was observed when it changed. */
  readonly clockSkewMs: number | undefined;
  /** The pool to reconcile with the next report, because the pod is stale there. */
  readonly wakesPool: string | undefined;
}

/** The version of a report that does not count; it differs from that of every report. */
const NO_REPORT = '';

const NEW = { isRefused: false, clockSkewMs: undefined, wakesPool: undefined };

/** Clocks of nodes may differ this much from the manager's, which includes the delay of a report. */
const MAX_CLOCK_SKEW_MS = 30_000;

/**
 * Confirmations remembers when the manager last observed a change of each pod's report, and once more when it observed
 * that the pod is gone. Only the manager's clock counts: the clocks of nodes may be wrong. A heartbeat costs one entry
 * of a map, and no write.
 */
export class Confirmations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #byPod = new Map<string, Confirmation>();
  readonly #outages = new Set<string>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** confirmedAt returns when a pod was last confirmed; undefined if it was not observed since the manager started. */
  confirmedAt(podUID: string): number | undefined {
    return this.#byPod.get(podUID)?.at;
  }

  /** observedAt returns when the current report of a pod was first observed; undefined if it was not. */
  observedAt(podUID: string): number | undefined {
    return this.#byPod.get(podUID)?.observedAt;
  }

  /** hasClockSkew reports whether the clock of a pod's node is off; undefined if that is not known yet. */
  hasClockSkew(podUID: string): boolean | undefined {
    const skew = this.#byPod.get(podUID)?.clockSkewMs;
    return skew === undefined ? undefined : isSkewed(skew);
  }

  /**
   * observe records the report of a pod. A report that is new or has changed is confirmed now. The first observation
   * after a start follows from the row that the status has.
   */
  observe(report: ObservedReport, row: PodRow | undefined, gracePeriodMs: number): void {
    const { podUID, version, lastReportTime } = report;
    const before = this.#byPod.get(podUID);
    if (before?.version === version) {
      if (before.isRefused) this.#byPod.set(podUID, { ...before, isRefused: false });
      return;
    }
    if (before || !row) {
      this.#confirm(report, before);
      return;
    }
    const at = this.#resumedAt(row, lastReportTime, gracePeriodMs);
    const observedAt = this.#clock.now();
    this.#byPod.set(podUID, { ...NEW, version, at, observedAt });
  }

  /**
   * observeRefused records a live pod whose current report does not count: its last one holds until it is stale. After
   * a start the pod has the same time to be confirmed as others.
   */
  observeRefused(row: PodRow, gracePeriodMs: number): void {
    const before = this.#byPod.get(row.podUID);
    if (before?.isRefused) return;
    const at = row.fresh ? this.#timeLeftFor(gracePeriodMs) : parseTime(row.observedTime);
    const known = before ?? { ...NEW, version: NO_REPORT, at, observedAt: at };
    this.#byPod.set(row.podUID, { ...known, isRefused: true });
  }

  /**
   * heartbeat records a report of a pod that was observed before. It returns the pool that has to be reconciled,
   * because the pod was stale or its clock was set; undefined if nothing changes.
   */
  heartbeat(report: ObservedReport, pool: string): string | undefined {
    const before = this.#byPod.get(report.podUID);
    // The first observation is that of the pool, which knows the row.
    if (!before || before.isRefused || before.version === report.version) return undefined;
    const after = this.#confirm(report, before);
    const wasSkewed = before.clockSkewMs !== undefined && isSkewed(before.clockSkewMs);
    return before.wakesPool ?? (wasSkewed === isSkewed(after.clockSkewMs ?? 0) ? undefined : pool);
  }

  /** wakeWithNextReport makes the next report of a pod reconcile the pool, in which the pod is stale. */
  wakeWithNextReport(podUID: string, pool: string): void {
    const before = this.#byPod.get(podUID);
    if (before && before.wakesPool !== pool) this.#byPod.set(podUID, { ...before, wakesPool: pool });
  }

  /**
   * observeGone records that a pod no longer exists or has ended. The grace period of its devices begins with the first
   * such observation, also if another manager made it.
   */
  observeGone(row: PodRow): void {
    const before = this.#byPod.get(row.podUID);
    if (before && before.version === undefined) return;
    const at = row.fresh ? this.#clock.now() : parseTime(row.observedTime);
    this.#byPod.set(row.podUID, { ...NEW, version: undefined, at, observedAt: at });
  }

  /** beginOutage records that the API server cannot be reached, so that the reports of a pool cannot arrive. */
  beginOutage(pool: string): void {
    this.#outages.add(pool);
  }

  /** endOutage gives the fresh pods of a pool as much time as after a start, if there was an outage. */
  endOutage(pool: string, rows: readonly PodRow[], gracePeriodMs: number): void {
    if (!this.#outages.delete(pool)) return;
    const at = this.#timeLeftFor(gracePeriodMs);
    for (const { podUID, fresh } of rows) {
      const before = this.#byPod.get(podUID);
      if (fresh && before && before.version !== undefined && before.at < at) this.#byPod.set(podUID, { ...before, at });
    }
  }

  /** forgetOutage records that the reports of a pool arrive again, so that no pod needs more time. */
  forgetOutage(pool: string): void {
    this.#outages.delete(pool);
  }

  /** oldest returns when the pod that has been silent for the longest time was confirmed; undefined without pods. */
  oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { at, version } of this.#byPod.values())
      if (version !== undefined && (oldest === undefined || at < oldest)) oldest = at;
    return oldest;
  }

  /** forget drops a pod that is in no pool any more. */
  forget(podUID: string): void {
    this.#byPod.delete(podUID);
  }

  #confirm({ podUID, version, lastReportTime }: ObservedReport, before: Confirmation | undefined): Confirmation {
    const at = this.#clock.now();
    // A report that already existed when it was first observed may be old.
    const clockSkewMs = before ? parseTime(lastReportTime) - at : undefined;
    const after = { ...NEW, version, at, observedAt: at, clockSkewMs };
    this.#byPod.set(podUID, after);
    return after;
  }

  /**
   * A pod that was fresh has two heartbeats to be confirmed: how long it was silent before the start is not known. One
   * that was stale stays so until its report changes.
   */
  #resumedAt(row: PodRow, reportTime: string, gracePeriodMs: number): number {
    if (row.fresh) return this.#timeLeftFor(gracePeriodMs);
    return row.lastReportTime === reportTime ? parseTime(row.observedTime) : this.#clock.now();
  }

  /** The confirmation whose grace period ends after two heartbeats from now. */
  #timeLeftFor(gracePeriodMs: number): number {
    return this.#clock.now() - gracePeriodMs + Math.min(gracePeriodMs, 2 * heartbeatMs(gracePeriodMs));
  }
}

function isSkewed(skewMs: number): boolean {
  return Math.abs(skewMs) > MAX_CLOCK_SKEW_MS;
}
