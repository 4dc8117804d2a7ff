import type { WriteGuard } from '../client/client.ts';

/** Leadership is a Lease held and renewed in the background, until it is lost or released. */
export interface Leadership extends AsyncDisposable {
  /**
   * Aborted at once when the renew deadline passes or another holder is seen; the reason is a BOWLINE_LEADERSHIP_LOST
   * error. A leadership that was lost never comes back, and releasing it does not count as losing it.
   */
  readonly lost: AbortSignal;
  /** Give this to `client.guarded`: it refuses writes from the renew deadline on, without waiting for any timer. */
  readonly guard: WriteGuard;
  /**
   * release refuses further writes, stops renewing and empties the Lease's holder, so that the next one need not wait.
   * Drain first: a write still under way may land after the next holder's first. Never rejects.
   */
  release(): Promise<void>;
}

/** LagSource tells how late the event loop has been of late; an EventLoopMonitor is one. */
export interface LagSource {
  lagMs(): number;
}
