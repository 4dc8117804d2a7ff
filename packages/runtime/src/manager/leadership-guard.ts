import type { WriteGuard } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Leadership } from '../leader-election/leadership.ts';

/**
 * LeadershipGuard refuses an operator's writes until it leads, and whenever its leadership refuses them after that. It
 * is created before the Lease is held, so that one client can be used from the start.
 */
export class LeadershipGuard implements WriteGuard {
  readonly #operator: string;
  #leadership: Leadership | undefined;

  constructor(operator: string) {
    this.#operator = operator;
  }

  lead(leadership: Leadership): void {
    this.#leadership = leadership;
  }

  assertMayWrite(): void {
    if (this.#leadership === undefined) {
      throw new BowlineError(
        'BOWLINE_NOT_LEADER',
        `refused a write of the operator ${this.#operator}: this process does not hold its Lease; write from a reconcile or a leaderOnly service, or with the client of a service's context`,
      );
    }
    this.#leadership.guard.assertMayWrite();
  }

  /** Without leadership no write reaches the point where this matters. */
  get writeTimeoutMs(): number {
    return this.#leadership?.guard.writeTimeoutMs ?? 5_000;
  }
}
