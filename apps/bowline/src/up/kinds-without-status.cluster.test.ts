import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { apiVersionOf } from '@bowline/kubernetes';
import { type Sample, show } from '@bowline/runtime';
import type { DisplayedResource } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline, type CommandResult, Shelf, shelfWith } from '../testing/test-operators.test-support.ts';

function sampleIn(c: Cluster, boards: number): Sample {
  const metadata = { namespace: c.namespace, name: 'sample', labels: { size: 'small' } };
  const shelf = { apiVersion: apiVersionOf(Shelf), kind: Shelf.kind, metadata, spec: { boards } };
  return shelf;
}

const shelves = (labelSelector?: string): DisplayedResource =>
  show(Shelf, {
    labelSelector,
    state: ({ spec }) => ({ isReady: spec.boards > 0, message: `${spec.boards} boards` }),
  });

async function up(c: Cluster, boards: number, displayed: readonly DisplayedResource[]): Promise<CommandResult> {
  await using files = await temporaryFiles();
  const KUBECONFIG = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  const args = ['up', '--control-plane', 'current-context', '--yes', '--samples', '--exit-when-ready', '--json'];
  const shelf = shelfWith([sampleIn(c, boards)], displayed);
  return await bowline([...args, ...(boards > 0 ? [] : ['--timeout', '1s'])], {
    registry: { shelf: { summary: 'builds shelves', load: () => Promise.resolve(shelf) } },
    env: { KUBECONFIG },
  });
}

it('reports a sample of a kind without a status as ready by what the operator declares', async () => {
  await using c = await cluster();
  const { code, out, err } = await up(c, 3, [shelves()]);
  expect([code, err]).toEqual([0, '']);
  const state = { kind: 'Shelf', key: `${c.namespace}/sample`, isReady: true, message: '3 boards' };
  const { ready, objects } = JSON.parse(out) as { ready: boolean; objects: readonly unknown[] };
  expect(ready).toBe(true);
  // Samples of earlier tests may still be in deletion.
  expect(objects).toContainEqual({ operator: 'shelf', ...state });
});

it('waits for a sample that is not ready by what the operator declares', async () => {
  await using c = await cluster();
  const { code, err } = await up(c, 0, [shelves('size=small')]);
  expect(err).toContain(`not everything was ready within 1s (Shelf ${c.namespace}/sample: `);
  expect(code).toBe(1);
});

it.each([
  ['nothing', []],
  ['only other objects of its kind', [shelves('size=large')]],
])('neither displays nor awaits a sample of a kind without a status if the operator declares %s', async (_, shown) => {
  await using c = await cluster();
  const { code, out } = await up(c, 1, shown);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ ready: true, objects: [] });
});
