import { VirtualClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { IgnitionSyncMetrics, type SyncRecord } from './metrics.ts';

function create(perObject = false) {
  const registry = createMetrics({ process: false });
  const end = new AbortController();
  const metrics = new IgnitionSyncMetrics({
    metrics: registry,
    clock: new VirtualClock(),
    perObject,
    signal: end.signal,
  });
  const series = async (): Promise<readonly string[]> =>
    (await registry.render())
      .split('\n')
      .filter((line) => line.startsWith('ignition_sync_') && !line.includes('_bucket'));
  return { metrics, series, end };
}

const a = { namespace: 'plant', name: 'a' };
const b = { namespace: 'plant', name: 'b' };
const record: SyncRecord = {
  isReady: true,
  gateways: [{ syncStatus: 'Synced' }, { syncStatus: 'Error' }],
  waitingFor: new Set(['approval']),
};

it('creates every series at zero', async () => {
  const { series } = create();
  const lines = await series();
  for (const name of [
    'git_operations_total{operation="resolve",result="ok"}',
    'git_operation_duration_seconds_count{operation="verify"}',
    'git_received_bytes_total',
    'git_shared_total',
    'injections_total{result="denied"}',
    'pull_requests_total{result="failed"}',
    'gateways{status="MissingSidecar"}',
    'syncs{ready="false"}',
    'rollouts_waiting{for="approval"}',
    'github_token_expiry_timestamp_seconds',
  ])
    expect(lines).toContain(`ignition_sync_${name} 0`);
});

it('counts shared operations once for each IgnitionSync that did not need its own', async () => {
  const { metrics, series } = create();
  metrics.observeOperation({ operation: 'resolve', result: 'ok', durationMs: 100, users: 10 });
  metrics.observeOperation({ operation: 'fetch', result: 'Timeout', durationMs: 120_000, users: 1 });
  const lines = await series();
  expect(lines).toContain('ignition_sync_git_shared_total 9');
  expect(lines).toContain('ignition_sync_git_operations_total{operation="fetch",result="Timeout"} 1');
});

it('sums the states of all IgnitionSyncs, and forgets those that are deleted', async () => {
  const { metrics, series } = create();
  metrics.record(a, { ...record, tokenExpiresAtMs: 5_000 });
  metrics.record(b, { ...record, isReady: false, tokenExpiresAtMs: 3_000 });
  expect(await series()).toEqual(
    expect.arrayContaining([
      'ignition_sync_gateways{status="Synced"} 2',
      'ignition_sync_gateways{status="Error"} 2',
      'ignition_sync_syncs{ready="true"} 1',
      'ignition_sync_syncs{ready="false"} 1',
      'ignition_sync_rollouts_waiting{for="approval"} 2',
      'ignition_sync_github_token_expiry_timestamp_seconds 3',
    ]),
  );
  metrics.forget(b);
  expect(await series()).toEqual(
    expect.arrayContaining(['ignition_sync_gateways{status="Synced"} 1', 'ignition_sync_syncs{ready="false"} 0']),
  );
});

it('removes the series of a deleted IgnitionSync (metric series never removed)', async () => {
  const { metrics, series } = create(true);
  metrics.record(a, record);
  metrics.record(b, record);
  expect((await series()).some((line) => line.includes('name="a"'))).toBe(true);
  metrics.forget(a);
  expect((await series()).filter((line) => line.includes('name="a"'))).toEqual([]);
  expect((await series()).some((line) => line.includes('name="b"'))).toBe(true);
});
