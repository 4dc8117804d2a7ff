import { type Clock, type Timer, VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { createMetrics } from './create-metrics.ts';
import { EventLoopMonitor } from './event-loop-monitor.ts';

/** A clock that advances without running timers: a blocked event loop. */
class BlockableClock implements Clock {
  readonly inner = new VirtualClock();
  #blocked = 0;
  now = (): number => this.inner.now() + this.#blocked;
  monotonic = (): number => this.inner.monotonic() + this.#blocked;
  setTimer = (delayMs: number, callback: () => void): Timer => this.inner.setTimer(delayMs, callback);
  sleep = (delayMs: number, signal?: AbortSignal): Promise<void> => this.inner.sleep(delayMs, signal);

  block(ms: number): void {
    this.#blocked += ms;
  }
}

describe('EventLoopMonitor', () => {
  it('reports a delay while it lasts, and remembers it for the window', async () => {
    const wire = new BlockableClock();
    using monitor = new EventLoopMonitor({ wire });
    await wire.inner.advance(1_000);
    expect(monitor.lagMs()).toBe(0);
    wire.block(4_000);
    expect(monitor.stalledForMs()).toBe(3_900);
    expect(monitor.lagMs()).toBe(3_900);
    await wire.inner.advance(1_000);
    expect(monitor.stalledForMs()).toBe(0);
    expect(monitor.lagMs()).toBe(4_000);
    await wire.inner.advance(25_000);
    expect(monitor.lagMs()).toBe(4_000);
    await wire.inner.advance(65_000);
    expect(monitor.lagMs()).toBe(0);
  });

  it('considers a loop starved when it is late repeatedly, not when it was blocked once', async () => {
    const wire = new BlockableClock();
    using monitor = new EventLoopMonitor({ wire });
    wire.block(3_600_000);
    await wire.inner.advance(200);
    expect(monitor.starvedFraction()).toBeLessThanOrEqual(0.25);
    for (let turn = 0; turn < 40; turn++) {
      wire.block(2_000);
      await wire.inner.advance(200);
    }
    expect(monitor.starvedFraction()).toBeGreaterThan(0.8);
    await wire.inner.advance(70_000);
    expect(monitor.starvedFraction()).toBe(0);
  });

  it('exports the delay and stops cleanly', async () => {
    const wire = new BlockableClock();
    const metrics = createMetrics({ process: false });
    const monitor = new EventLoopMonitor({ wire, metrics });
    wire.block(2_000);
    await wire.inner.advance(500);
    const text = await metrics.render();
    expect(text).toContain('nodejs_eventloop_lag_max_seconds 2\n');
    expect(text).toContain('bowline_event_loop_delay_seconds_bucket{le="1"} 4\n');
    monitor[Symbol.dispose]();
    expect(wire.inner.pendingTimers).toBe(0);
  });
});
