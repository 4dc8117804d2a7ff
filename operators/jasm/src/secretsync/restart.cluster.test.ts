import { cluster } from '@bowline/control-plane/testing';
import { Deployment } from '@bowline/kubernetes';
import { expect, it, vi } from 'vitest';
import { POD_ANNOTATIONS, RESTARTED_FOR } from '../api/names.ts';
import { podSpec } from '../testing/jasm-cluster.test-support.ts';
import { restart } from './restart.ts';

const MARK = { annotation: `${RESTARTED_FOR}db`, value: '0f' };

it('restarts a workload whose template asks, once, and none that a pod merely names as its own', async () => {
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
  const restarted = (name: string): Promise<boolean> => {
    const workload = { group: 'apps', kind: 'Deployment', name, id: `Deployment.apps/${name}` };
    return restart(admin, namespace, workload, MARK, (annotation) => annotation === 'for db');
  };
  // The workload's controller writes it too at first; a run would be tried again.
  expect(await vi.waitFor(() => restarted('asking'), 10_000)).toBe(true);
  for (const name of ['asking', 'another', 'silent', 'nobody']) expect(await restarted(name)).toBe(false);
  const { items } = await admin.list(Deployment, { namespace });
  const marked = items.filter(({ spec }) => spec?.template.metadata?.annotations?.[MARK.annotation] === MARK.value);
  expect(marked.map(({ metadata }) => metadata?.name)).toEqual(['asking']);
});
