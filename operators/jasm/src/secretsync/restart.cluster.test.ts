import { cluster } from '@bowline/control-plane/testing';
import { Deployment } from '@bowline/kubernetes';
import { expect, it, vi } from 'vitest';
import { POD_ANNOTATIONS, RESTARTED_FOR } from '../api/names.ts';
import { podSpec } from '../testing/jasm-cluster.test-support.ts';
import { type RestartResult, restart } from './restart.ts';

const MARK = { annotation: `${RESTARTED_FOR}db`, value: '0f' };
const NOW = Date.parse('2026-01-01T00:00:00Z');

it('restarts a workload whose template has the request once, and no workload that a pod merely names as its owner', async () => {
  await using c = await cluster();
  const { admin, namespace } = c;
  for (const [name, annotations] of [
    ['asking', { [POD_ANNOTATIONS.secretSync]: 'for db' }],
    ['another', { [POD_ANNOTATIONS.secretSync]: 'for something else' }],
    ['silent', {}],
  ] as const) {
    const labels = { app: name };
    const template = { metadata: { labels, annotations }, spec: podSpec() };
    await admin.create(Deployment, {
      metadata: { namespace, name },
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    });
  }
  const restarted = (name: string, value = MARK.value, now = NOW): Promise<RestartResult> => {
    const workload = { group: 'apps', kind: 'Deployment', name, id: `Deployment.apps/${name}` };
    const limits = { now, intervalMs: 60_000 };
    return restart(admin, { namespace, workload }, { ...MARK, value }, (asked) => asked === 'for db', limits);
  };
  // The workload's controller writes it too at first; a run would be retried.
  expect(await vi.waitFor(() => restarted('asking'), 10_000)).toBe('restarted');
  for (const name of ['asking', 'another', 'silent', 'nobody']) expect(await restarted(name)).toBe('unneeded');
  const { items } = await admin.list(Deployment, { namespace });
  const marks = items.flatMap(({ metadata, spec }) => {
    const mark = spec?.template.metadata?.annotations?.[MARK.annotation];
    return mark === undefined ? [] : [[metadata?.name, mark]];
  });
  expect(marks).toEqual([['asking', '0f@2026-01-01T00:00:00.000Z']]);
  // Other content has to wait, unless the recorded time is in the future.
  expect(await restarted('asking', '1f', NOW + 20_000)).toEqual({ inMs: 40_000 });
  expect(await vi.waitFor(() => restarted('asking', '1f', NOW + 60_000), 10_000)).toBe('restarted');
  expect(await vi.waitFor(() => restarted('asking', '2f', NOW), 10_000)).toBe('restarted');
});
