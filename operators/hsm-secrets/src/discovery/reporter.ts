import { Pod } from '@bowline/kubernetes';
import {
  BowlineError,
  between,
  type Clock,
  formatMicroTime,
  formatTime,
  isSameJson,
  type Random,
  WakeSignal,
} from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { type Client, isConflict, isForbidden, isInvalid, isNotFound } from '@bowline/runtime/client';
import { fieldManagerOf } from '@bowline/runtime/writing';
import { OPERATOR, REPORT_ANNOTATION } from '../api/names.ts';
import { formatReport } from '../reports/format-report.ts';
import type { Report } from '../reports/report.ts';
import type { Findings } from './findings.ts';

/** ReportingPod is the pod that carries the report. */
export interface ReportingPod {
  readonly namespace: string;
  readonly name: string;
  /** Only the pod with this uid gets a report. Defaults to the pod of that name on the node. */
  readonly uid?: string | undefined;
}

/** ReporterOptions configures a reporter. */
export interface ReporterOptions {
  readonly client: Pick<Client, 'get' | 'patch'>;
  /** The name of the HSMDevice. */
  readonly device: string;
  readonly pod: ReportingPod;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Returns how often an unchanged report is repeated. */
  readonly heartbeatMs: () => number;
  /** Called with every report that was written. Defaults to nothing. */
  readonly onReport?: ((report: Report) => void) | undefined;
}

const FIELD_MANAGER = fieldManagerOf(OPERATOR, 'discovery');
const REQUEST_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const FORBIDDEN_REMEDY =
  'bind the ClusterRole of discovery to the ServiceAccount of this pod, and use the token that is mounted into it: the admission policy accepts a report only from the pod that carries it';

/**
 * Reporter writes the latest findings to the annotation of the pod: when they have changed, and at every heartbeat,
 * which shows that they are still true. Findings that could not be written are kept. The report stays when it stops:
 * the pool decides how long it counts.
 */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #clock: Clock;
  readonly #wake: WakeSignal;
  #findings: Findings | undefined;
  #written: Findings | undefined;
  #writtenAt = 0;
  #retryAt = 0;
  #failures = 0;
  #loggedCode: string | undefined;
  /** The patch is only valid for this pod, and not for another one of the same name. */
  #uid: string | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#wake = new WakeSignal(options.clock);
    this.#uid = options.pod.uid;
  }

  /** report sets what is reported from now on; undefined ends the heartbeats. */
  report(findings: Findings | undefined): void {
    this.#findings = findings;
    this.#wake.wake();
  }

  /** heartbeatChanged makes the reporter ask for the heartbeat again. */
  heartbeatChanged(): void {
    this.#wake.wake();
  }

  /** run reports until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const findings = this.#findings;
      const waitMs = findings ? this.#dueAt(findings) - this.#clock.monotonic() : Number.POSITIVE_INFINITY;
      if (findings && waitMs <= 0) await this.#write(findings, signal);
      else await this.#wake.wait(waitMs, signal);
    }
  }

  #dueAt(findings: Findings): number {
    const isWritten = this.#written !== undefined && hasSameContent(this.#written, findings);
    return Math.max(isWritten ? this.#writtenAt + this.#options.heartbeatMs() : 0, this.#retryAt);
  }

  async #write(findings: Findings, signal: AbortSignal): Promise<void> {
    const { client, pod, log, onReport } = this.#options;
    const startedAt = this.#clock.monotonic();
    try {
      this.#uid ??= await this.#readUid(signal);
      const report = this.#reportOf(findings);
      const annotations = { [REPORT_ANNOTATION]: formatReport(report) };
      await client.patch(
        Pod,
        { namespace: pod.namespace, name: pod.name },
        { type: 'merge', body: { metadata: { uid: this.#uid, annotations } } },
        { fieldManager: FIELD_MANAGER, timeoutMs: REQUEST_TIMEOUT_MS, signal },
      );
      this.#written = findings;
      this.#writtenAt = startedAt;
      this.#failures = 0;
      if (this.#loggedCode !== undefined) log.info('reporting again');
      this.#loggedCode = undefined;
      onReport?.(report);
    } catch (error) {
      if (!signal.aborted) this.#retryLater(error);
    }
  }

  #reportOf({ status, devices, error, at }: Findings): Report {
    const { device, nodeName } = this.#options;
    return {
      hsmDeviceName: device,
      reportingNode: nodeName,
      discoveredDevices: devices.map((each) => ({ ...each, lastSeen: formatTime(at), nodeName })),
      lastReportTime: formatMicroTime(this.#clock.now()),
      discoveryStatus: status,
      error,
    };
  }

  /** Also detects a wrong node name: the manager would ignore such reports. */
  async #readUid(signal: AbortSignal): Promise<string | undefined> {
    const { client, pod, nodeName } = this.#options;
    const key = { namespace: pod.namespace, name: pod.name };
    const { metadata, spec } = await client.get(Pod, key, { timeoutMs: REQUEST_TIMEOUT_MS, signal });
    const refuse = (problem: string): never => {
      throw new BowlineError(
        'BOWLINE_HSM_POD_MISMATCH',
        `cannot report in Pod ${key.namespace}/${key.name}: ${problem}`,
      );
    };
    if (pod.uid !== undefined && metadata?.uid !== pod.uid)
      refuse('it was deleted and recreated; start discovery for the new pod');
    if (spec?.nodeName !== nodeName)
      refuse(`it is on node ${spec?.nodeName ?? 'none'}, not ${nodeName}; set --node-name to the node of the pod`);
    return metadata?.uid;
  }

  #retryLater(error: unknown): void {
    const { pod, log, random } = this.#options;
    const heartbeatMs = this.#options.heartbeatMs();
    this.#failures++;
    // The next attempt reads the pod of this name again.
    if (isOtherPod(error)) this.#uid = undefined;
    const code = error instanceof BowlineError ? error.code : 'UNKNOWN';
    const isLasting = isForbidden(error) || code === 'BOWLINE_HSM_POD_MISMATCH';
    const delayMs = Math.min(heartbeatMs, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    const retryInMs = isLasting ? heartbeatMs : between(random, delayMs / 2, delayMs);
    this.#retryAt = this.#clock.monotonic() + retryInMs;
    if (code === this.#loggedCode) return;
    this.#loggedCode = code;
    const remedy = isForbidden(error) ? { remedy: FORBIDDEN_REMEDY } : {};
    log.warn('cannot report, retrying', { namespace: pod.namespace, pod: pod.name, error, retryInMs, ...remedy });
  }
}

/**
 * isOtherPod reports whether the pod was deleted or recreated. The API server rejects the uid of the former pod as a
 * change of an immutable field.
 */
function isOtherPod(error: unknown): boolean {
  if (isInvalid(error)) return error.causes.some(({ field }) => field === 'metadata.uid');
  return isNotFound(error) || isConflict(error);
}

/** The time of the scan does not count: otherwise every scan would cause a write. */
function hasSameContent(a: Findings, b: Findings): boolean {
  return isSameJson({ ...a, at: 0 }, { ...b, at: 0 });
}
