import { VirtualClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import { SyncMetrics, type SyncRecord } from './metrics.ts';

const a = { namespace: 'team-a', name: 'a' };
const b = { namespace: 'team-b', name: 'b' };
const record = (change: Partial<SyncRecord> = {}): SyncRecord => ({
  counts: { Synced: 2, Pending: 0, Conflict: 0, Failed: 1 },
  isSourceMissing: false,
  repaired: 1,
  isDone: true,
  ...change,
});

function setUp(perObject: boolean) {
  const metrics = createMetrics({ process: false });
  const stop = new AbortController();
  const clock = new VirtualClock();
  return { metrics, clock, stop, syncs: new SyncMetrics({ metrics, clock, perObject, signal: stop.signal }) };
}

describe('SyncMetrics', () => {
  it('sums over all ConfigMapSyncs, and drops deleted ones', async () => {
    const { metrics, syncs, clock } = setUp(false);
    await syncs.measure(a, async () => syncs.record(a, record()));
    await syncs.measure(b, async () => syncs.record(b, record({ isSourceMissing: true, isDone: false })));
    await expect(syncs.measure(b, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const text = await metrics.render();
    for (const line of [
      'configmapsync_syncs_total{result="success"} 1',
      'configmapsync_syncs_total{result="incomplete"} 1',
      'configmapsync_syncs_total{result="failed"} 1',
      'configmapsync_sync_duration_seconds_count 3',
      'configmapsync_destinations{state="synced"} 4',
      'configmapsync_drift_corrections_total 2',
      'configmapsync_source_missing 1',
      `configmapsync_last_success_timestamp_seconds ${Math.floor(clock.now() / 1000)}`,
    ]) {
      expect(text).toContain(line);
    }
    syncs.forget(b);
    expect(await metrics.render()).toContain('configmapsync_destinations{state="synced"} 2');
  });

  it('has series for each ConfigMapSync with perObject, and removes them with it', async () => {
    const { metrics, syncs } = setUp(true);
    for (const key of [a, b]) await syncs.measure(key, async () => syncs.record(key, record()));
    expect(await metrics.render()).toContain(
      'configmapsync_syncs_total{namespace="team-a",name="a",result="success"} 1',
    );
    syncs.forget(a);
    const text = await metrics.render();
    expect(text).not.toContain('team-a');
    expect(text).toContain('configmapsync_destinations{namespace="team-b",name="b",state="synced"} 2');
  });
});
