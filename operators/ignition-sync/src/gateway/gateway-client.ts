import { GatewayCalls, type GatewayOptions } from './gateway-calls.ts';
import { GatewayError } from './gateway-error.ts';
import { type DesignerSession, readDesigners, readItems, readNames } from './gateway-lists.ts';
import { isNewer, readScanStatus, SCAN_KINDS, type ScanKind, type ScanStatus } from './scan-status.ts';
import type { GatewayRequest } from './send-request.ts';

/** ScanResult is a scan that the gateway accepted. */
export interface ScanResult {
  /** Whether the gateway reported the end of both scans in time. */
  readonly isConfirmed: boolean;
  /** `projects=200 config=200`, and `unconfirmed` if it is. */
  readonly summary: string;
}

/** LockResult is the response to the request for a scan lock. */
export interface LockResult {
  readonly isHeld: boolean;
  /** Why it is not held. Empty if it is. */
  readonly reason: string;
}

/** CONFIRMATION_MS is the maximum time for the confirmation of a scan. */
export const CONFIRMATION_MS = 10_000;
const CONFIRMATION_INTERVAL_MS = 250;
/** ANSWER_INTERVAL_MS is the interval at which a gateway that does not answer is called again. */
export const ANSWER_INTERVAL_MS = 2_000;
/**
 * In seconds. The gateway waits less than a request may take: a lock that is acquired after its request timed out would
 * be held by no client. It is held longer than files take to be renamed, and the next scan releases it.
 */
const LOCK = { acquireTimeout: 8, holdTimeout: 60 } as const;

const scanPath = (kind: ScanKind): string => `/data/api/v1/scan/${kind}`;

/**
 * GatewayClient calls the gateway in the pod of an agent. Calls reject with a GatewayError. Endpoints that a version of
 * the gateway may lack return undefined then.
 *
 * @example
 * const gateway = new GatewayClient({ port: 8043, apiKeyFile: '/run/ignition-sync/api-key' });
 * await gateway.untilAnswering(signal);
 * const { summary } = await gateway.scan(signal);
 */
export class GatewayClient {
  readonly #calls: GatewayCalls;

  constructor(options: GatewayOptions) {
    this.#calls = new GatewayCalls(options);
  }

  /** isAnswering reports whether the gateway responds, with any status but 503, which it has while it starts. */
  async isAnswering(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#calls.call(
        { method: 'GET', path: '/system/gwinfo', isAuthenticated: false },
        { signal, retry: false },
      );
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return error.problem !== 'unreachable' && error.status !== 503;
    }
  }

  /** untilAnswering resolves when the gateway answers. */
  async untilAnswering(signal: AbortSignal): Promise<void> {
    while (!(await this.isAnswering(signal))) await this.#calls.clock.sleep(ANSWER_INTERVAL_MS, signal);
  }

  /**
   * lockScans asks the gateway not to scan by itself until the next `scan`, for at most a minute. A refusal is logged
   * and not an error: the lock only narrows the time in which the gateway can load a mixture of two states.
   */
  async lockScans(kind: ScanKind, signal: AbortSignal): Promise<LockResult> {
    const request: GatewayRequest = { method: 'POST', path: `/data/api/v1/scan-lock/${kind}`, body: LOCK };
    try {
      await this.#calls.call(request, { signal, retry: false });
      return { isHeld: true, reason: '' };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#calls.log.info('the gateway did not grant a scan lock', { kind, reason: error.message });
      return { isHeld: false, reason: error.message };
    }
  }

  /**
   * scan makes the gateway load projects, then config, and waits for a confirmation. Both are loaded even if only one
   * changed, because a scan also releases the lock. A missing confirmation is not an error.
   */
  async scan(signal: AbortSignal): Promise<ScanResult> {
    const before = new Map<ScanKind, ScanStatus | undefined>();
    const statuses: string[] = [];
    for (const kind of SCAN_KINDS) before.set(kind, await this.#scanStatus(kind, signal));
    for (const kind of SCAN_KINDS) {
      const { status } = await this.#calls.call({ method: 'POST', path: scanPath(kind) }, { signal });
      statuses.push(`${kind}=${status}`);
    }
    const isConfirmed = await this.#confirm(before, signal);
    return { isConfirmed, summary: [...statuses, ...(isConfirmed ? [] : ['unconfirmed'])].join(' ') };
  }

  /** projectNames returns the names of the projects that the gateway has loaded; undefined if it does not list them. */
  async projectNames(signal: AbortSignal): Promise<readonly string[] | undefined> {
    return await this.#list('/data/api/v1/projects/names', readNames, signal);
  }

  /**
   * missingProjects returns the placed projects that the gateway has not loaded. It returns none if the gateway does not
   * list its projects, for whatever reason: that shows nothing about the projects.
   */
  async missingProjects(placed: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    try {
      const names = await this.projectNames(signal);
      return names ? placed.filter((name) => !names.includes(name)) : [];
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#calls.log.warn('cannot list the projects of the gateway', { reason: error.message });
      return [];
    }
  }

  /** designers returns the connected Designers; undefined if the gateway does not list them. */
  async designers(signal: AbortSignal): Promise<readonly DesignerSession[] | undefined> {
    return await this.#list('/data/api/v1/designers', readDesigners, signal);
  }

  /** perspectiveSessions returns the number of open Perspective sessions; undefined if the gateway does not list them. */
  async perspectiveSessions(signal: AbortSignal): Promise<number | undefined> {
    return (await this.#list('/data/perspective/api/v1/sessions/', readItems, signal))?.length;
  }

  async #list<T>(path: string, read: (value: unknown) => T | undefined, signal: AbortSignal): Promise<T | undefined> {
    const request: GatewayRequest = { method: 'GET', path };
    const response = await this.#calls.callKnown(request, { signal });
    if (!response) return undefined;
    const list = read(this.#calls.readJson(request, response));
    if (list === undefined) throw this.#calls.invalidResponse(request, 'is not a list', response.status);
    return list;
  }

  /** Ends after CONFIRMATION_MS, even if the gateway has not responded by then. */
  async #confirm(before: ReadonlyMap<ScanKind, ScanStatus | undefined>, signal: AbortSignal): Promise<boolean> {
    const late = new AbortController();
    using _ = this.#calls.clock.setTimer(CONFIRMATION_MS, () => late.abort());
    try {
      for (const [kind, old] of before) {
        // Without the state before, a newer one cannot be recognized.
        if (!old) return false;
        await this.#untilNewer(kind, old, AbortSignal.any([signal, late.signal]));
      }
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) return false;
      throw error;
    }
  }

  async #untilNewer(kind: ScanKind, old: ScanStatus, signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = await this.#scanStatus(kind, signal);
      if (now && isNewer(now, old)) return;
      await this.#calls.clock.sleep(CONFIRMATION_INTERVAL_MS, signal);
    }
  }

  /** Undefined if it is not known: it is only needed for the confirmation, so no failure is an error. */
  async #scanStatus(kind: ScanKind, signal: AbortSignal): Promise<ScanStatus | undefined> {
    const request: GatewayRequest = { method: 'GET', path: scanPath(kind) };
    try {
      return readScanStatus(this.#calls.readJson(request, await this.#calls.call(request, { signal, retry: false })));
    } catch (error) {
      if (error instanceof GatewayError) return undefined;
      throw error;
    }
  }
}
