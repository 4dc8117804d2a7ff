import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, CustomResourceDefinition, Namespace } from '@bowline/kubernetes';
import { expect, it, vi } from 'vitest';
import { beacon, beacons, Lighthouse } from '../testing/beacon.test-support.ts';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline, type CommandResult } from '../testing/test-operators.test-support.ts';
import { WatchedObjects } from './watched-objects.ts';

const DEFINITION = { name: 'lighthouses.harbours.test.bowline.dev' };

async function up(c: Cluster): Promise<CommandResult> {
  await using files = await temporaryFiles();
  const KUBECONFIG = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  const args = ['up', '--control-plane', 'current-context', '--yes', '--samples', '--exit-when-ready'];
  return await bowline(args, { registry: beacons, env: { KUBECONFIG } });
}

it('names cluster-scoped objects and their events without a namespace, and creates the namespaces of settings', async () => {
  await using c = await cluster({ isolation: 'control-plane' });
  const { code, out, err } = await up(c);
  expect([code, `${out}${err}`.includes('undefined')]).toEqual([0, false]);
  expect(out).toMatch(/try +kubectl get beacons\n +kubectl describe beacons cluster\n/);
  expect(out).toContain('Beacon cluster  ready');
  const { metadata } = await c.admin.get(Namespace, { name: 'beacons' });
  expect(metadata?.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'privileged' });
  expect((await c.admin.get(ConfigMap, { namespace: 'beacons', name: 'beacon' })).data).toEqual({ color: 'red' });

  const stop = new AbortController();
  const watched = new WatchedObjects(c.admin, [beacon], () => {});
  const watching = watched.run(stop.signal);
  try {
    await vi.waitFor(() => expect(watched.events()[0]?.text).toBe('Beacon cluster Lit: it is red'), {
      timeout: 20_000,
      interval: 20,
    });
  } finally {
    stop.abort();
    await watching;
  }
});

it('installs a missing kind of another project, leaves an existing one unchanged, and reports which', async () => {
  await using c = await cluster({ isolation: 'control-plane' });
  expect((await up(c)).err).toContain(`installed ${DEFINITION.name}, which beacon uses and the cluster did not have\n`);
  expect((await c.admin.list(Lighthouse)).items).toEqual([]);

  const categories = { spec: { names: { categories: ['theirs'] } } };
  await c.admin.patch(CustomResourceDefinition, DEFINITION, { type: 'merge', body: categories });
  expect((await up(c)).err).toContain(`using ${DEFINITION.name} of the cluster for beacon\n`);
  expect((await c.admin.get(CustomResourceDefinition, DEFINITION)).spec.names.categories).toEqual(['theirs']);
});
