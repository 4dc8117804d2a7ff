import { type Clock, systemClock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import type { TokenService, TokenStatus } from '../token/token-service.ts';

/** TokenMonitorOptions configures what is checked. */
export interface TokenMonitorOptions {
  readonly service: Pick<TokenService, 'status'>;
  /** Defaults to 10 s. */
  readonly intervalMs?: number | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
}

/** A result that is older describes the past: calls before the check take too long. */
const MAX_AGE_MS = 60_000;

/** TokenMonitor checks regularly whether the token responds and is logged in, and so also logs in after a start. */
export class TokenMonitor {
  readonly #options: TokenMonitorOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  #problem: string | undefined = 'the token has not responded yet';
  #reason: string | undefined = '';
  #checkedAt = 0;

  constructor(options: TokenMonitorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
    this.#checkedAt = this.#clock.monotonic();
  }

  /** problem returns why the token cannot be used; undefined if it can. */
  problem(): string | undefined {
    if (this.#problem !== undefined) return this.#problem;
    const ageMs = this.#clock.monotonic() - this.#checkedAt;
    return ageMs > MAX_AGE_MS ? `the token has not responded for ${Math.floor(ageMs / 1_000)} s` : undefined;
  }

  /** run checks the token until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const status = await this.#options.service.status(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (status) this.#record(status);
      await this.#clock.sleep(this.#options.intervalMs ?? 10_000, signal).catch(() => undefined);
    }
  }

  #record({ token, isLoggedIn, problem }: TokenStatus): void {
    this.#checkedAt = this.#clock.monotonic();
    const failed = isLoggedIn
      ? undefined
      : (problem ?? { reason: 'NotLoggedIn', message: 'the token is not logged in' });
    this.#problem = failed && `${failed.reason}: ${failed.message}`;
    if (this.#reason === failed?.reason) return;
    this.#reason = failed?.reason;
    if (failed) this.#log.warn('token cannot be used', { ...failed });
    else this.#log.info('token is ready', { label: token?.label, serialNumber: token?.serialNumber });
  }
}
