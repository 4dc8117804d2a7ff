/** TrueReport is a valid report as a pod wrote it. */
export interface TrueReport {
  /** When it was written, by the one true clock. */
  readonly at: number;
  readonly status: 'completed' | 'discovering' | 'error';
  /** Whether each reported device is available, by its id. */
  readonly devices: ReadonlyMap<string, boolean>;
  /** How far the clock of the node was ahead. */
  readonly clockAheadMs: number;
}

/** TruePod is a discovery pod with everything that it has reported. Invalid reports do not count. */
export interface TruePod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly reports: TrueReport[];
  /** When it was deleted or ended. */
  goneAt?: number;
  /** Whether the last status before it was gone listed it as fresh. */
  wasFresh?: boolean;
}

/** Truth is what really happened, whatever the managers have observed. */
export class Truth {
  readonly graceMs: number;
  /** The time that a live pod has for its next report after a manager started. */
  readonly resumeMs: number;
  readonly pods: TruePod[] = [];
  /** When managers began to lead. */
  readonly starts: number[] = [];
  /** Whether a manager was ever cut off, so that reports arrived late. */
  hadInterruption = false;

  constructor(graceMs: number, heartbeatMs: number) {
    this.graceMs = graceMs;
    this.resumeMs = Math.min(graceMs, 2 * heartbeatMs);
  }

  /** podsOn returns the pods that a node has or had, and that have reported. */
  podsOn(node: string): readonly TruePod[] {
    return this.pods.filter((pod) => pod.node === node && pod.reports.length > 0);
  }

  get nodes(): readonly string[] {
    return [...new Set(this.pods.map(({ node }) => node))];
  }

  /** backedAtLeastUntil returns the time until which the devices of a node must at least be kept. */
  backedAtLeastUntil(node: string): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...this.podsOn(node).map((pod) => this.keptAtLeastUntil(pod)));
  }

  /**
   * contradictedAt returns when a report of a node first contradicted that it has an available device; undefined if
   * the reports since then, and those of all pods that were live after `since`, confirm it.
   */
  contradictedAt(node: string, device: string, since: number): number | undefined {
    const pods = this.podsOn(node);
    const completed = pods.flatMap(({ reports }) => reports.filter(({ status }) => status === 'completed'));
    const confirmedAt = Math.max(...completed.filter(has(device)).map(({ at }) => at));
    const later = completed.filter((report) => !has(device)(report) && report.at >= confirmedAt);
    const standing = pods
      .filter(({ goneAt }) => goneAt === undefined || goneAt >= since)
      .flatMap((pod) => lastCompleted(pod) ?? [])
      .filter((report) => !has(device)(report));
    const times = [...later, ...standing].map(({ at }) => at);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** claims returns whether any pod of a node last reported a device, available or not. */
  claims(node: string, device: string): boolean {
    return this.podsOn(node).some((pod) => lastCompleted(pod)?.devices.has(device));
  }

  /** keptAtLeastUntil returns the time until which the last report of a pod must at least count. */
  keptAtLeastUntil({ reports, goneAt, wasFresh }: TruePod): number {
    if (goneAt !== undefined) return wasFresh ? goneAt + this.graceMs : Number.NEGATIVE_INFINITY;
    const at = reports.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    const resumed = this.starts.filter((start) => start >= at).map((start) => start + this.resumeMs);
    return Math.min(at + this.graceMs, ...resumed);
  }
}

function lastCompleted({ reports }: TruePod): TrueReport | undefined {
  return reports.findLast(({ status }) => status === 'completed');
}

function has(device: string): (report: TrueReport) => boolean {
  return ({ devices }) => devices.get(device) === true;
}
