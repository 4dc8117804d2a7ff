import { between, type Clock, type Random } from '@bowline/machinery';
import type { Log } from '../observability/log.ts';
import type { Service } from '../operator/operator.ts';

/** ServiceRunnerOptions configures how a service runs. */
export interface ServiceRunnerOptions {
  readonly service: Service;
  readonly deps: unknown;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A service that has run this long counts as healthy: its next failure restarts the backoff. */
const HEALTHY_AFTER_MS = 120_000;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/**
 * runService keeps a service running until the signal is aborted, and resolves when it has ended. A failure does not
 * affect others.
 */
export async function runService(signal: AbortSignal, options: ServiceRunnerOptions): Promise<void> {
  const { service, clock, random } = options;
  const log = options.log.with({ service: service.name });
  let delayMs = FIRST_DELAY_MS;
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    try {
      // The value is what defineOperator checked the service against; the types were erased there.
      await service.run(signal, options.deps as never);
      if (!signal.aborted) log.info('service ended');
      return;
    } catch (error) {
      if (signal.aborted) {
        if (error !== signal.reason) log.warn('service failed while stopping', { error });
        return;
      }
      if (clock.monotonic() - startedAt >= HEALTHY_AFTER_MS) delayMs = FIRST_DELAY_MS;
      const retryInMs = between(random, delayMs / 2, delayMs);
      log.error('service failed, restarting it', { error, retryInMs });
      await clock.sleep(retryInMs, signal).catch(() => undefined);
      delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
    }
  }
}
