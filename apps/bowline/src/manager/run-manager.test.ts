import { describe, expect, it } from 'vitest';
import type { ManagerConfig } from '../config/manager-config.ts';
import { resolveSettings } from '../config/settings.ts';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { badge, bowline } from '../testing/test-operators.test-support.ts';
import { managerOptions } from './run-manager.ts';

function config(value: Readonly<Record<string, unknown>>): ManagerConfig {
  const file = { path: 'bowline.yaml', value, lineOf: () => undefined };
  return resolveSettings({ file, operators: [badge], known: ['badge'] }).manager;
}

const pod = { config: { server: 'https://10.0.0.1:443', namespace: 'own', source: 'pod' }, isPod: true };
const laptop = { config: { server: 'https://k8s.example.com', namespace: 'mine', source: 'file' }, isPod: false };
const local = { ...laptop, config: { ...laptop.config, server: 'https://127.0.0.1:6443' } };

describe('managerOptions', () => {
  it.each([
    [{}, pod, 'own'],
    [{}, laptop, 'bowline-system'],
    [{ namespace: 'given' }, pod, 'given'],
  ])('uses the right namespace with %j', (given, connection, namespace) => {
    expect(managerOptions(config(given), connection).namespace).toBe(namespace);
  });

  it.each([
    ['in a pod', {}, pod, { service: { namespace: 'own', name: 'badge-webhook' } }, 'chart', 'bowline-badge-own'],
    ['beside the API server', {}, local, 'loopback', 'runtime', 'bowline-badge'],
    [
      'elsewhere',
      {},
      laptop,
      { service: { namespace: 'bowline-system', name: 'badge-webhook' } },
      'chart',
      'bowline-badge',
    ],
    ['at the configured address', { webhook: { reachedAt: 'loopback' } }, local, 'loopback', 'chart', 'bowline-badge'],
    ['at a URL', { webhook: { reachedAt: 'https://x' } }, pod, { url: 'https://x' }, 'chart', 'bowline-badge-own'],
  ])('serves webhooks %s', (_, given, connection, reachedAt, configurations, name) => {
    const { webhooksFor, installNameFor } = managerOptions(config(given), connection);
    expect(webhooksFor?.(badge)).toMatchObject({ address: ':9443', reachedAt, configurations });
    expect(installNameFor?.(badge)).toBe(name);
  });

  it('passes the image of the install to operators, but only in a pod', () => {
    const given = config({ install: { image: 'registry.example.com/bowline:1' } });
    expect(managerOptions(given, pod).image).toBe('registry.example.com/bowline:1');
    expect(managerOptions(given, laptop).image).toBeUndefined();
    expect(managerOptions(config({}), pod).image).toBeUndefined();
  });

  it('converts durations to milliseconds, and omits a disabled election', () => {
    expect(managerOptions(config({ drainTimeout: '1m30s' }), pod)).toMatchObject({
      drainTimeoutMs: 90_000,
      leaderElection: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
    });
    expect(managerOptions(config({ leaderElection: { enabled: false } }), pod).leaderElection).toBe(false);
  });
});

describe('bowline run', () => {
  it('reports a missing kubeconfig, an unknown context and an unreachable cluster', async () => {
    await using files = await temporaryFiles();
    const run = (...args: readonly string[]) => bowline(['run', '--operators', 'sticker', '--kubeconfig', ...args]);
    const nowhere = await run('/nowhere/kubeconfig');
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('no kubeconfig at /nowhere/kubeconfig')]);

    // YAML, as in most kubeconfigs.
    // No program listens on this port.
    const server = 'https://127.0.0.1:1';
    const kubeconfig = await files.write(
      'kubeconfig',
      `clusters: [{ name: a, cluster: { server: '${server}' } }]\ncontexts: [{ name: a, context: { cluster: a } }]\ncurrent-context: a\n`,
    );
    const other = await run(kubeconfig, '--context', 'b');
    expect([other.code, other.err]).toEqual([1, expect.stringMatching(/no context "b": choose one of a/)]);
    const dead = await run(kubeconfig);
    expect([dead.code, dead.err]).toEqual([1, expect.stringMatching(/TRANSPORT_UNREACHABLE/)]);
  });
});
