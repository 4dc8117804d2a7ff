import { timedOut } from '../status/api-status.ts';
import type { RequestContext } from './context.ts';

/** The API server ends a write after this time (`requestTimeoutUpperBound`). */
const MAX_WRITE_MS = 34_000;

/**
 * WriteAttempts limits how long a write is repeated because the object changed meanwhile. Like the API server, it counts
 * the time and not the attempts: a patch without a resource version never fails with a conflict, however often other
 * clients write while webhooks review it. Each attempt that fails means that another write succeeded.
 */
export class WriteAttempts {
  readonly #context: Pick<RequestContext, 'clock' | 'request'>;
  readonly #deadline: number;

  constructor(context: Pick<RequestContext, 'clock' | 'request'>) {
    this.#context = context;
    this.#deadline = context.clock.monotonic() + MAX_WRITE_MS;
  }

  /** repeat throws if no time is left for another attempt, or if the client no longer waits. */
  repeat(): void {
    const { clock, request } = this.#context;
    if (request.signal.aborted || clock.monotonic() >= this.#deadline) throw timedOut();
  }
}
