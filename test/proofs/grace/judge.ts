import type { DeviceRow, PodRow, PoolStatus } from '../../../operators/hsm-secrets/src/api/hsm-pool.ts';
import type { TruePod, TrueReport, Truth } from './truth.ts';

/** ObservedStatus is the part of a pool's status that is judged. */
export interface ObservedStatus
  extends Pick<PoolStatus, 'totalDevices' | 'availableDevices' | 'reportingPodCount'>,
    Partial<Pick<PoolStatus, 'reportingPods' | 'aggregatedDevices'>> {
  /** The message of the condition ClockSkew; undefined without it. */
  readonly clockSkew: string | undefined;
}

/** Loss is a device that is listed and not available. */
interface Loss {
  readonly node: string;
  /** The earliest and the latest time at which it can have been lost. */
  readonly from: number;
  readonly to: number;
}

/** Clocks that differ by more are reported. */
const MAX_CLOCK_SKEW_MS = 30_000;

/**
 * Judge checks every status of a pool against what really happened. It knows nothing about how a status is derived: it
 * only knows from when to when a device has to be available and listed, or must not be.
 */
export class Judge {
  readonly #truth: Truth;
  #last: { readonly at: number; readonly status: ObservedStatus } | undefined;
  readonly #losses = new Map<string, Loss>();
  /** Since when each row has not been fresh, by the uid of the pod. */
  readonly #staleSince = new Map<string, number>();

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  /** lists reports whether the last status has a fresh row of a pod. */
  hasFresh(podUID: string): boolean {
    return this.#last?.status.reportingPods?.some((row) => row.podUID === podUID && row.fresh) ?? false;
  }

  /** status checks the next status that any client could have read. */
  status(at: number, status: ObservedStatus): readonly string[] {
    const before = this.#last;
    const problems = [
      ...countProblems(status),
      ...(before?.status.aggregatedDevices ?? []).flatMap((row) =>
        this.#droppedTooEarly(row, before?.at ?? 0, at, status),
      ),
      ...this.#clockProblems(status),
    ];
    this.#record(at, status);
    return problems;
  }

  /** settled checks the last status at a time at which a manager has led without interruption, and has no work left. */
  settled(at: number, healthySince: number): readonly string[] {
    const status: ObservedStatus = this.#last?.status ?? NO_STATUS;
    const devices = status.aggregatedDevices ?? [];
    return [
      ...devices.flatMap((row) => (row.available ? this.#keptTooLong(row, at, healthySince) : [])),
      ...devices.flatMap((row) => (row.available ? [] : this.#listedTooLong(row, at, healthySince))),
      ...this.#truth.nodes.flatMap((node) => this.#missing(node, at, healthySince, devices)),
      ...(status.reportingPods ?? []).flatMap((row) => this.#freshTooLong(row, at, healthySince)),
      ...this.#missingClockSkew(healthySince, status),
    ];
  }

  /** (a) and (b): what was available stays so while its node is backed and not contradicted, and is listed after that. */
  #droppedTooEarly(row: DeviceRow, before: number, at: number, status: ObservedStatus): readonly string[] {
    const { id, nodeName } = row;
    const { graceMs } = this.#truth;
    const now = status.aggregatedDevices?.find((each) => each.id === id);
    const until = this.#truth.backedAtLeastUntil(nodeName);
    if (row.available) {
      const contradictedAt = this.#truth.contradictedAt(nodeName, id, before);
      const isKept = now?.available === true && now.nodeName === nodeName;
      if (contradictedAt === undefined && at <= until && !isKept)
        return [`${id} on ${nodeName} must be available until ${until} at least, but at ${at} is ${describe(now)}`];
      const listedUntil = Math.min(contradictedAt ?? Number.POSITIVE_INFINITY, until) + graceMs;
      if (!now && at <= listedUntil) return [`${id} must be listed until ${listedUntil}, but is not at ${at}`];
      return [];
    }
    const listedUntil = (this.#losses.get(id)?.from ?? Number.NEGATIVE_INFINITY) + graceMs;
    return !now && at <= listedUntil ? [`${id} must be listed until ${listedUntil}, but is not at ${at}`] : [];
  }

  /** (c): nothing is available without backing, or against the current report. */
  #keptTooLong({ id, nodeName }: DeviceRow, at: number, since: number): readonly string[] {
    const until = this.#backedAtMostUntil(nodeName, since);
    if (at > until) return [`${id} on ${nodeName} may be available until ${until} at most, but is at ${at}`];
    const current = this.#currentReport(nodeName, at);
    if (current && current.devices.get(id) !== true)
      return [`${id} on ${nodeName} is available at ${at}, but the report of ${current.at} contradicts it`];
    return [];
  }

  /** (c): nothing is listed for more than the grace period after it was lost, unless its node still reports it. */
  #listedTooLong({ id, nodeName }: DeviceRow, at: number, since: number): readonly string[] {
    const loss = this.#losses.get(id);
    const { graceMs } = this.#truth;
    // Without a report that decides, the node may have ended before a manager observed that it lacks the device.
    const isUndecided = this.#truth.claims(nodeName, id) || !this.#currentReport(nodeName, at);
    const isReported = at <= this.#backedAtMostUntil(nodeName, since) && isUndecided;
    if (!loss || isReported || at <= loss.to + graceMs) return [];
    return [`${id} on ${nodeName} was lost at ${loss.to} at the latest, but is still listed at ${at}`];
  }

  /** A device that only one node reports is available there. */
  #missing(node: string, at: number, since: number, devices: readonly DeviceRow[]): readonly string[] {
    const current = this.#currentReport(node, at);
    if (!current) return [];
    const others = this.#truth.nodes.filter((each) => each !== node && at <= this.#backedAtMostUntil(each, since));
    return [...current.devices].flatMap(([id, available]) => {
      if (!available || others.some((other) => this.#truth.claims(other, id))) return [];
      const row = devices.find((each) => each.id === id);
      if (row?.available && row.nodeName === node) return [];
      // Its last node keeps it if it ended before a manager observed the report that contradicts it.
      if (row && others.includes(row.nodeName) && !this.#currentReport(row.nodeName, at)) return [];
      return [`${node} reported ${id} at ${current.at}, but at ${at} it is ${describe(row)}`];
    });
  }

  #freshTooLong({ podName, podUID, fresh }: PodRow, at: number, since: number): readonly string[] {
    const pod = this.#truth.pods.find(({ uid }) => uid === podUID);
    if (!pod) return [`the row of ${podName} is that of no pod`];
    if (pod.goneAt !== undefined && fresh) return [`${podName} is fresh at ${at}, but ended at ${pod.goneAt}`];
    const until = this.#confirmedAtMostUntil(pod, since);
    if (at > until && (fresh || pod.goneAt !== undefined))
      return [`the row of ${podName} is ${fresh ? 'fresh' : 'listed'} at ${at}, but ends at ${until}`];
    return [];
  }

  /** (e): the clocks of nodes are in the condition ClockSkew only. */
  #clockProblems({ clockSkew }: ObservedStatus): readonly string[] {
    // A report that arrives late looks like that of a wrong clock.
    const isSkewed = this.#truth.hadInterruption || this.#truth.pods.some(({ reports }) => reports.some(isOff));
    return clockSkew === undefined || isSkewed ? [] : [`no clock is off, but the pool reports: ${clockSkew}`];
  }

  /** Once the clocks of all fresh pods are known, those that are off are reported. */
  #missingClockSkew(since: number, { clockSkew, reportingPods = [] }: ObservedStatus): readonly string[] {
    const fresh = this.#truth.pods.filter(({ uid }) => reportingPods.some((row) => row.podUID === uid && row.fresh));
    const observed = fresh.map(({ node, reports }) => ({ node, reports: reports.filter(({ at }) => at > since) }));
    // How old the first observed report of a pod is, is not known.
    if (observed.some(({ reports }) => reports.length < 2)) return [];
    return observed.flatMap(({ node, reports }) => {
      const last = reports.at(-1);
      if (!last || !isOff(last) || clockSkew?.includes(node)) return [];
      return [`the clock of ${node} is off by ${last.clockAheadMs} ms, but the pool reports ${clockSkew ?? 'nothing'}`];
    });
  }

  /** The report that decides about a node; undefined if there is none, or if that depends on what was observed. */
  #currentReport(node: string, at: number): TrueReport | undefined {
    const live = this.#truth.podsOn(node).filter((pod) => pod.goneAt === undefined);
    const [only] = live;
    const report = only?.reports.at(-1);
    // Of several pods, the one that was confirmed last decides, also if its report was written before.
    if (live.length !== 1 || !only || report?.status !== 'completed') return undefined;
    return at <= this.#truth.keptAtLeastUntil(only) ? report : undefined;
  }

  #backedAtMostUntil(node: string, since: number): number {
    const pods = this.#truth.podsOn(node);
    return Math.max(Number.NEGATIVE_INFINITY, ...pods.map((pod) => this.#confirmedAtMostUntil(pod, since)));
  }

  #confirmedAtMostUntil({ uid, reports, goneAt }: TruePod, since: number): number {
    const { graceMs } = this.#truth;
    const recordedAt = this.#staleSince.get(uid);
    if (goneAt !== undefined) return (recordedAt ?? Math.max(goneAt, since)) + graceMs;
    return Math.max(reports.at(-1)?.at ?? 0, since) + graceMs;
  }

  #record(at: number, status: ObservedStatus): void {
    for (const { podUID, fresh } of status.reportingPods ?? []) {
      if (fresh) this.#staleSince.delete(podUID);
      else if (!this.#staleSince.has(podUID)) this.#staleSince.set(podUID, at);
    }
    const listed = status.aggregatedDevices ?? [];
    const before = new Map((this.#last?.status.aggregatedDevices ?? []).map((row) => [row.id, row]));
    for (const id of this.#losses.keys()) if (!listed.some((row) => row.id === id)) this.#losses.delete(id);
    for (const { id, nodeName, available } of listed) {
      const was = before.get(id);
      if (available) this.#losses.delete(id);
      else if (!was || was.available || was.nodeName !== nodeName) {
        const node = was?.available ? was.nodeName : nodeName;
        const contradictedAt = this.#truth.contradictedAt(node, id, this.#last?.at ?? at);
        // A node that takes over a device may have reported it as not available long before.
        const isMoved = was !== undefined && was.nodeName !== nodeName;
        const lostAt = contradictedAt ?? Math.min(at, this.#truth.backedAtLeastUntil(node));
        const from = isMoved ? Number.NEGATIVE_INFINITY : lostAt;
        const to = contradictedAt === undefined ? Math.min(at, this.#recordedEnd(node) ?? at) : at;
        this.#losses.set(id, { node: nodeName, from, to });
      }
    }
    this.#last = { at, status };
  }

  /** When a node lost its backing, if a status had recorded that all its pods were gone; undefined otherwise. */
  #recordedEnd(node: string): number | undefined {
    const pods = this.#truth.podsOn(node);
    const ends = pods.map(({ uid, goneAt }) => (goneAt === undefined ? undefined : this.#staleSince.get(uid)));
    if (ends.length === 0 || ends.some((end) => end === undefined)) return undefined;
    return Math.max(...ends.map((end) => end ?? 0)) + this.#truth.graceMs;
  }
}

const NO_STATUS: ObservedStatus = { clockSkew: undefined };

/** (d): every device and every pod is counted once. */
function countProblems(status: ObservedStatus): readonly string[] {
  const { aggregatedDevices: devices = [], reportingPods: pods = [] } = status;
  const problems: string[] = [];
  if (new Set(devices.map(({ id }) => id)).size < devices.length) problems.push('a device is listed twice');
  if (new Set(pods.map(({ podUID }) => podUID)).size < pods.length) problems.push('a pod is listed twice');
  if ((status.totalDevices ?? 0) !== devices.length)
    problems.push(`${devices.length} devices are listed, but ${status.totalDevices} counted`);
  const available = devices.filter((row) => row.available).length;
  if ((status.availableDevices ?? 0) !== available)
    problems.push(`${available} devices are available, but ${status.availableDevices} counted`);
  if ((status.reportingPodCount ?? 0) !== pods.length)
    problems.push(`${pods.length} pods are listed, but ${status.reportingPodCount} counted`);
  return problems;
}

function isOff({ clockAheadMs }: { readonly clockAheadMs: number }): boolean {
  return Math.abs(clockAheadMs) > MAX_CLOCK_SKEW_MS;
}

function describe(row: DeviceRow | undefined): string {
  if (!row) return 'not listed';
  return `${row.available ? 'available' : 'not available'} on ${row.nodeName} (${row.health})`;
}
