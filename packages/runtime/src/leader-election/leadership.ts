import type { WriteGuard } from '../client/client.ts';

/** Leadership is a held Lease that is renewed in the background until it is lost or released. */
export interface Leadership extends AsyncDisposable {
  /**
   * Aborted immediately when the renew deadline passes or another holder is observed; the reason is a
   * BOWLINE_LEADERSHIP_LOST error. A lost leadership is never regained, and releasing it does not count as losing it.
   */
  readonly lost: AbortSignal;
  /** Pass this to `client.guarded`: it refuses writes after the renew deadline without relying on a timer. */
  readonly guard: WriteGuard;
  /**
   * release refuses further writes, stops renewing and clears the Lease's holder, so that the next holder does not have
   * to wait. Drain first: a write still in flight may be stored after the next holder's first write. Never rejects.
   */
  release(): Promise<void>;
}

/** LagSource measures how late the event loop has run recently. An EventLoopMonitor implements it. */
export interface LagSource {
  lagMs(): number;
}
