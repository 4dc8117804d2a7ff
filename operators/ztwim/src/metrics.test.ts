import { VirtualClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { describe, expect, it } from 'vitest';
import { ZtwimMetrics } from './metrics.ts';

function setUp() {
  const registry = createMetrics({ process: false });
  const clock = new VirtualClock();
  const metrics = new ZtwimMetrics({ metrics: registry, clock });
  const lines = async (name: string): Promise<readonly string[]> =>
    (await registry.render()).split('\n').filter((line) => line.startsWith(name));
  return { metrics, clock, lines };
}

const parent = (generation: number, observedGeneration = generation - 1) => ({
  metadata: { uid: 'one', generation },
  status: { observedGeneration },
});

describe('ZtwimMetrics', () => {
  it('exist at zero from the start', async () => {
    const { lines } = setUp();
    const all = await lines('ztwim_');
    expect(all.filter((line) => !line.endsWith(' 0'))).toEqual([]);
    expect(all).toContain('ztwim_operand_ready{kind="SpireServer"} 0');
    expect(all).toContain('ztwim_config_sync_seconds_count{kind="SpireOIDCDiscoveryProvider"} 0');
    expect(all).toContain('ztwim_config_conflicts{field="jwtIssuer"} 0');
    expect(all).toContain('ztwim_rollouts_total{kind="SpireAgent"} 0');
    expect(all).toContain('ztwim_finalizer_duration_seconds_count{finalizer="ztwim.io/oidc-cleanup"} 0');
    expect(all).toContain('ztwim_finalizer_timeouts_total{finalizer="ztwim.io/operand-lifecycle"} 0');
    expect(all).toContain('ztwim_finalizers_forced_total{finalizer="ztwim.io/spire-agent-cleanup"} 0');
    expect(all).toContain('ztwim_migration_phase{phase="Failed"} 0');
    expect(all).toContain('ztwim_admission_denied_total{kind="SpireServer",field="trustDomain"} 0');
  });

  it('measure the time from a new configuration until each operand follows it, once', async () => {
    const { metrics, clock, lines } = setUp();
    metrics.configSeen(parent(2));
    await clock.advance(1_000);
    metrics.configSeen(parent(2, 2));
    metrics.configSynced('SpireServer', parent(2));
    await clock.advance(1_000);
    metrics.configSynced('SpireServer', parent(2));
    metrics.configSynced('SpireAgent', parent(2));
    expect(await lines('ztwim_config_sync_seconds_sum')).toEqual([
      'ztwim_config_sync_seconds_sum{kind="SpireServer"} 1',
      'ztwim_config_sync_seconds_sum{kind="SpireAgent"} 2',
      'ztwim_config_sync_seconds_sum{kind="SpiffeCSIDriver"} 0',
      'ztwim_config_sync_seconds_sum{kind="SpireOIDCDiscoveryProvider"} 0',
    ]);
    expect((await lines('ztwim_config_sync_seconds_count'))[0]).toBe(
      'ztwim_config_sync_seconds_count{kind="SpireServer"} 1',
    );
  });

  it('do not measure a configuration that is older than the process, nor the time in which a user must act', async () => {
    const { metrics, clock, lines } = setUp();
    metrics.configSeen(parent(2, 2));
    metrics.configSynced('SpireServer', parent(2, 2));
    metrics.configSeen(parent(3));
    metrics.configHeld('SpireServer');
    await clock.advance(60_000);
    metrics.configSynced('SpireServer', parent(3));
    expect((await lines('ztwim_config_sync_seconds_count'))[0]).toBe(
      'ztwim_config_sync_seconds_count{kind="SpireServer"} 0',
    );
  });

  it('show the present conflicts and the present phase of the migration', async () => {
    const { metrics, lines } = setUp();
    metrics.setConflicts(['trustDomain', 'trustDomain', 'jwtIssuer']);
    expect(await lines('ztwim_config_conflicts')).toEqual([
      'ztwim_config_conflicts{field="trustDomain"} 2',
      'ztwim_config_conflicts{field="clusterName"} 0',
      'ztwim_config_conflicts{field="bundleConfigMap"} 0',
      'ztwim_config_conflicts{field="jwtIssuer"} 1',
    ]);
    metrics.setMigrationPhase('Planned');
    metrics.setMigrationPhase('Failed');
    expect((await lines('ztwim_migration_phase')).filter((line) => line.endsWith(' 1'))).toEqual([
      'ztwim_migration_phase{phase="Failed"} 1',
    ]);
  });

  it('count refused changes once for each field, and unknown fields together', async () => {
    const { metrics, lines } = setUp();
    metrics.denied('SpireServer', ['spec.trustDomain', 'spec.trustDomain', 'spec.made.up', undefined]);
    expect((await lines('ztwim_admission_denied_total')).filter((line) => !line.endsWith(' 0'))).toEqual([
      'ztwim_admission_denied_total{kind="SpireServer",field="trustDomain"} 1',
      'ztwim_admission_denied_total{kind="SpireServer",field="other"} 1',
    ]);
  });
});
