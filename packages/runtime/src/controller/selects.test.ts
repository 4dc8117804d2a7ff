import { ConfigMap } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { defineResource } from '../resource/define-resource.ts';
import { given, testController } from '../testing/index.ts';
import { controller } from './builder.ts';

const Site = defineResource({
  group: 'example.dev',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({ install: s.string().default('') }),
  status: s.object({}),
});

const key = { namespace: 'shop', name: 'a' };

const sites = controller(Site)
  .using<{ readonly install: string }>()
  .owns(ConfigMap, { remove: true })
  .selects(({ spec }, { install }) => spec.install === install)
  .reconcile(async ({ apply }) => void (await apply(ConfigMap, { metadata: key })))
  .cleanup(async ({ remove }) => void (await remove(ConfigMap, key)));

const deps = { install: 'blue' };
const siteOf = (install: string, metadata: object = {}) =>
  given(Site, { metadata: { ...key, ...metadata }, spec: { install } });

it('reconciles an object that the function selects with the dependencies', async () => {
  await using t = await testController(sites, { deps, objects: [siteOf('blue')] });
  await t.reconcile(key);
  expect(t.get(Site, key)?.metadata?.finalizers).toEqual(['example.dev/finalizer']);
  expect(t.get(ConfigMap, key)).toBeDefined();
});

it('does not touch an object that is not selected, not even to clean up', async () => {
  const finalizers = ['example.dev/finalizer'];
  const other = { ...key, name: 'b' };
  const objects = [siteOf('green'), siteOf('green', { ...other, finalizers })];
  await using t = await testController(sites, { deps, objects });
  await t.reconcile(key);
  await t.delete(Site, other);
  await t.reconcile(other);
  expect(t.writes).toEqual([]);
  expect(t.get(Site, other)?.metadata?.finalizers).toEqual(finalizers);
});
