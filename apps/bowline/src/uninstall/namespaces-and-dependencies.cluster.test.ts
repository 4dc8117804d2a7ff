import { cluster } from '@bowline/control-plane/testing';
import { CustomResourceDefinition, type KubernetesObject, Namespace, Role } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { beacons } from '../testing/beacon.test-support.ts';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';
import { applyObjects } from '../up/apply-objects.ts';

it('keeps the namespaces of settings and the definitions of other projects, and removes the permissions there', async () => {
  await using files = await temporaryFiles();
  await using c = await cluster({ isolation: 'control-plane' });
  const kubeconfig = await files.write('admin', JSON.stringify(await c.kubeconfig('admin')));
  const options = { registry: beacons };
  const manifests = ['manifests', '--operators', 'beacon', '--image', 'x', '--dependencies', '-o', 'json'];
  const { out } = await bowline(manifests, options);
  await applyObjects(c.admin, (JSON.parse(out) as { items: KubernetesObject[] }).items, new AbortController().signal);
  const role = { namespace: 'beacons', name: 'bowline-beacon' };
  await c.admin.get(Role, role);

  const uninstall = ['uninstall', '--kubeconfig', kubeconfig, '--delete-resources', '--yes'];
  const { code, err } = await bowline(uninstall, options);
  expect([code, err]).toEqual([0, expect.stringContaining('removed Role beacons/bowline-beacon')]);
  expect(err).toContain('removed CustomResourceDefinition beacons.cli.test.bowline.dev');
  expect(await c.admin.find(Role, role)).toBeUndefined();
  const kept = await c.admin.get(Namespace, { name: 'beacons' });
  expect(kept.metadata?.deletionTimestamp).toBeUndefined();
  await c.admin.get(CustomResourceDefinition, { name: 'lighthouses.harbours.test.bowline.dev' });
});
