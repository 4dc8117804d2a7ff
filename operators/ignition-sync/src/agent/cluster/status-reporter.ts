import { ConfigMap } from '@bowline/kubernetes';
import { between, type Clock, type Random, WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { type Client, isForbidden, isNotFound } from '@bowline/runtime/client';
import { fieldManagerOf } from '@bowline/runtime/writing';
import { OPERATOR, objectNames } from '../../api/names.ts';
import { ProtocolError } from '../../protocol/decode-json.ts';
import { decodeReport, encodeReport, type GatewayReport } from '../../protocol/gateway-report.ts';

/** StatusReporterOptions configures where an agent reports. */
export interface StatusReporterOptions {
  readonly client: Pick<Client, 'get' | 'patch'>;
  readonly namespace: string;
  readonly cr: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** ReportChange holds the fields of a report that change. Undefined removes a field. */
export type ReportChange = Partial<{ readonly [K in keyof GatewayReport]: GatewayReport[K] | undefined }>;

const FIELD_MANAGER = fieldManagerOf(OPERATOR, 'agent');
const REQUEST_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/**
 * StatusReporter writes the report of one gateway to its key of the status ConfigMap, when it has changed. It begins with what an
 * earlier process of the agent reported, so that a restart changes nothing. What could not be written is written later.
 */
export class StatusReporter {
  readonly #options: StatusReporterOptions;
  readonly #name: string;
  readonly #wake: WakeSignal;
  #key: string | undefined;
  /** The uid of the ConfigMap. Undefined if it is not known. */
  #uid: string | undefined;
  /** Undefined until it was read. */
  #written: { readonly key: string; readonly value: string | undefined } | undefined;
  #base: ReportChange = {};
  #changes: ReportChange = {};
  #failures = 0;
  #loggedProblem = '';
  readonly #idle = new Set<() => void>();

  constructor(options: StatusReporterOptions) {
    this.#options = options;
    this.#name = objectNames(options.cr).status;
    this.#wake = new WakeSignal(options.clock);
  }

  /** report is what the gateway's key contains or will contain. */
  get report(): ReportChange {
    return { ...this.#base, ...this.#changes };
  }

  /**
   * reportAs sets the key of the gateway, and the uid of the ConfigMap if it is known. Nothing is written before. A ConfigMap
   * that replaced another one has no reports, and gets the last one again.
   */
  reportAs(key: string, uid: string | undefined): void {
    const isReplaced = uid !== undefined && this.#uid !== undefined && uid !== this.#uid;
    this.#uid = uid ?? this.#uid;
    if (key === this.#key && !isReplaced) return;
    if (isReplaced) this.#written = undefined;
    this.#key = key;
    this.#wake.wake();
  }

  /** update changes fields of the report. */
  update(changes: ReportChange): void {
    this.#changes = { ...this.#changes, ...changes };
    this.#wake.wake();
  }

  /** run writes changes until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isDone = await this.#write(signal);
      if (isDone) for (const notify of this.#idle) notify();
      await this.#wake.wait(isDone ? Number.POSITIVE_INFINITY : this.#retryDelay(), signal);
    }
  }

  /** flush resolves when the current report is written, or the signal is aborted. */
  async flush(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#idle.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#idle.add(done);
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
      this.#wake.wake();
    });
  }

  /** Returns false if it has to be tried again. */
  async #write(signal: AbortSignal): Promise<boolean> {
    const key = this.#key;
    const uid = this.#uid;
    if (key === undefined) return true;
    try {
      if (this.#written === undefined) await this.#read(key, signal);
      const report = this.report;
      if (report.syncStatus === undefined) return true;
      const value = encodeReport({ ...report, syncStatus: report.syncStatus });
      const { key: oldKey, value: oldValue } = this.#written ?? { key, value: undefined };
      if (oldKey === key && oldValue === value) return this.#succeeded();
      const data = { ...(oldKey === key ? {} : { [oldKey]: null }), [key]: value };
      await this.#patch(data, signal);
      // Otherwise the ConfigMap was replaced meanwhile.
      if (uid === this.#uid) this.#written = { key, value };
      return this.#succeeded();
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
      return signal.aborted;
    }
  }

  async #read(key: string, signal: AbortSignal): Promise<void> {
    const { client, namespace, log } = this.#options;
    const { data } = await client.get(
      ConfigMap,
      { namespace, name: this.#name },
      { timeoutMs: REQUEST_TIMEOUT_MS, signal },
    );
    const value = data?.[key];
    this.#written = { key, value };
    if (value === undefined) return;
    try {
      this.#base = decodeReport(key, value);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      log.warn('the report of an earlier agent cannot be read and is replaced', { problem: error.message });
    }
  }

  async #patch(data: Readonly<Record<string, string | null>>, signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#options;
    await client.patch(
      ConfigMap,
      { namespace, name: this.#name },
      { type: 'merge', body: { data } },
      { fieldManager: FIELD_MANAGER, timeoutMs: REQUEST_TIMEOUT_MS, signal },
    );
  }

  #succeeded(): true {
    this.#failures = 0;
    if (this.#loggedProblem !== '') this.#options.log.info('the agent reports again');
    this.#loggedProblem = '';
    return true;
  }

  #failed(error: unknown): void {
    const { log, namespace, cr } = this.#options;
    this.#failures++;
    const problem = isForbidden(error) ? 'forbidden' : isNotFound(error) ? 'missing' : 'failed';
    if (problem === this.#loggedProblem) return;
    this.#loggedProblem = problem;
    if (problem === 'forbidden')
      log.warn('the agent may not report; the RoleBinding must name the ServiceAccount of this pod', {
        configMap: `${namespace}/${this.#name}`,
        roleBinding: `${namespace}/${objectNames(cr).agent}`,
      });
    else log.warn('the agent cannot report, and tries again', { configMap: `${namespace}/${this.#name}`, error });
  }

  #retryDelay(): number {
    const ceiling = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures, 10));
    return between(this.#options.random, FIRST_RETRY_MS, ceiling);
  }
}
