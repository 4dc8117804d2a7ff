import { cluster } from '@bowline/control-plane/testing';
import { ClusterRole, ConfigMap, ServiceAccount } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { applyCompanions } from './apply-companions.ts';
import { companion } from './companion.ts';
import { companionManifests } from './companion-manifests.ts';
import { defineOperator } from './operator.ts';

function scansWith(verbs: readonly string[]) {
  return defineOperator({
    name: 'scans',
    domain: 'example.com',
    controllers: [controller(ConfigMap).reconcile(() => {})],
    companions: [
      companion(ClusterRole, 'scanner').content(() => ({ rules: [{ apiGroups: [''], resources: ['pods'], verbs }] })),
      companion(ServiceAccount, 'agent').content(() => ({ automountServiceAccountToken: false })),
    ],
  });
}

it('creates companions, updates them, and writes nothing when nothing changed', async () => {
  await using c = await cluster();
  const install = { namespace: c.namespace, name: c.uniqueName('scans') };
  c.onDispose(() => c.admin.delete(ClusterRole, { name: `${install.name}-scanner` }));
  const apply = async (verbs: readonly string[]) => {
    const operator = scansWith(verbs);
    const applied = await applyCompanions(c.admin, operator, companionManifests(operator, install));
    return applied.map(({ outcome }) => outcome);
  };
  expect(await apply(['get', 'list'])).toEqual(['created', 'created']);
  expect(await apply(['get', 'list'])).toEqual(['unchanged', 'unchanged']);
  expect(await apply(['get'])).toEqual(['configured', 'unchanged']);
  const { rules, metadata } = await c.admin.get(ClusterRole, { name: `${install.name}-scanner` });
  expect(rules?.[0]?.verbs).toEqual(['get']);
  expect(metadata?.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
    ['example-scans-install', 'Apply'],
  ]);
  expect(await c.admin.find(ServiceAccount, { ...install, name: `${install.name}-agent` })).toBeDefined();
});

it.each([
  ['of another install', { 'example.com/installed-in': 'elsewhere' }],
  ['without labels', undefined],
])('does not overwrite an object of the same name %s, and names it', async (_, labels) => {
  await using c = await cluster();
  const operator = scansWith(['get']);
  const install = { namespace: c.namespace, name: c.uniqueName('scans') };
  const [wanted] = companionManifests(operator, install);
  const key = { name: `${install.name}-scanner` };
  const foreign = labels && { ...wanted?.object.metadata?.labels, ...labels };
  await c.admin.create(ClusterRole, { metadata: { ...key, labels: foreign }, rules: [] });
  c.onDispose(() => c.admin.delete(ClusterRole, key));
  await expect(applyCompanions(c.admin, operator, companionManifests(operator, install))).rejects.toMatchObject({
    code: 'BOWLINE_FOREIGN_OBJECT',
    message: expect.stringContaining(`cannot apply ClusterRole ${key.name}: it exists and is not ours`),
  });
  expect((await c.admin.get(ClusterRole, key)).rules ?? []).toEqual([]);
});
