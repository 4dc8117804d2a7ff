import { VirtualClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import { JasmMetrics } from './metrics.ts';

function setUp(perObject = false) {
  const registry = createMetrics({ process: false });
  const clock = new VirtualClock({ startMs: 5_000 });
  const stop = new AbortController();
  const metrics = new JasmMetrics({ metrics: registry, clock, providers: ['mock'], perObject, signal: stop.signal });
  const lines = async (name: string): Promise<readonly string[]> =>
    (await registry.render()).split('\n').filter((line) => line.startsWith(name));
  return { metrics, clock, lines, stop };
}

describe('JasmMetrics', () => {
  it('exist from the start', async () => {
    const { lines } = setUp();
    expect(await lines('jasm_sync_total')).toEqual([
      'jasm_sync_total{provider="mock",result="success"} 0',
      'jasm_sync_total{provider="mock",result="error"} 0',
    ]);
    expect(await lines('jasm_coalesced_fetches_total')).toEqual(['jasm_coalesced_fetches_total{provider="mock"} 0']);
    expect(await lines('jasm_managed_secrets')).toEqual(['jasm_managed_secrets 0']);
  });

  it('count syncs by result and measure their duration', async () => {
    const { metrics, clock, lines } = setUp();
    await metrics.measure('mock', () => clock.advance(2_000));
    await expect(metrics.measure('mock', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await lines('jasm_sync_total')).toEqual([
      'jasm_sync_total{provider="mock",result="success"} 1',
      'jasm_sync_total{provider="mock",result="error"} 1',
    ]);
    expect(await lines('jasm_sync_duration_seconds_sum')).toEqual([
      'jasm_sync_duration_seconds_sum{provider="mock"} 2',
    ]);
  });

  it('count calls to stores by operation and outcome', async () => {
    const { metrics, lines } = setUp();
    metrics.observeCall({ provider: 'mock', operation: 'get', code: 'OK', ms: 30 });
    metrics.countCoalesced('mock');
    expect(await lines('jasm_provider_api_calls_total')).toEqual([
      'jasm_provider_api_calls_total{provider="mock",operation="get",code="OK"} 1',
    ]);
    expect(await lines('jasm_provider_latency_seconds_sum')).toEqual([
      'jasm_provider_latency_seconds_sum{provider="mock",operation="get"} 0.03',
    ]);
    expect(await lines('jasm_coalesced_fetches_total')).toEqual(['jasm_coalesced_fetches_total{provider="mock"} 1']);
  });

  it('have no label for a Secret unless configured', async () => {
    const { metrics, lines } = setUp();
    metrics.setManaged('shop/db', true);
    metrics.succeeded('shop/db');
    expect(await lines('jasm_last_success_timestamp_seconds')).toEqual(['jasm_last_success_timestamp_seconds 5']);
    expect(await lines('jasm_managed_secrets')).toEqual(['jasm_managed_secrets 1']);
  });

  it('drop a Secret that was deleted', async () => {
    const { metrics, lines } = setUp(true);
    metrics.setManaged('shop/db', true);
    metrics.succeeded('shop/db');
    expect(await lines('jasm_last_success_timestamp_seconds')).toEqual([
      'jasm_last_success_timestamp_seconds{namespace="shop",secret="db"} 5',
    ]);
    metrics.setManaged('shop/db', false);
    expect(await lines('jasm_last_success_timestamp_seconds')).toEqual([]);
    expect(await lines('jasm_managed_secrets')).toEqual(['jasm_managed_secrets 0']);
  });

  it('drop a Secret that is not ours when keys are no longer merged into it', async () => {
    const { metrics, lines } = setUp(true);
    metrics.setManaged('shop/theirs', false);
    metrics.succeeded('shop/theirs');
    metrics.setManaged('shop/theirs', false);
    expect(await lines('jasm_last_success_timestamp_seconds')).toHaveLength(1);
    metrics.forget('shop/theirs');
    expect(await lines('jasm_last_success_timestamp_seconds')).toEqual([]);
  });
});
