import { ConfigMap, Namespace, type ObjectOf } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { defineResource } from '../resource/define-resource.ts';
import { admit, deny } from '../webhook/admission-response.ts';
import { mutating, validating } from '../webhook/declare.ts';
import { given, testWebhook } from './index.ts';

const Site = defineResource({
  group: 'example.dev',
  version: 'v1',
  kind: 'Site',
  scope: 'Namespaced',
  spec: s.object({ title: s.string(), theme: s.string().default('light') }),
});

const metadata = { namespace: 'shop', name: 'a' };

const checkSites = validating(Site, { name: 'sites', operations: ['CREATE', 'UPDATE', 'DELETE'] })
  .reads(Namespace, { view: 'metadata' })
  .handle(({ operation, object, oldObject, get, namespace, userInfo, dryRun }) => {
    if (operation === 'DELETE') return userInfo.username === 'eve' ? deny('eve may not') : admit();
    if (object.spec.title === 'boom') throw new RangeError('it blew up');
    if (!get(Namespace, { name: namespace ?? '' })) return deny(`there is no namespace ${namespace}`);
    if (operation === 'UPDATE' && object.spec.title !== oldObject.spec.title) {
      const causes = [{ reason: 'FieldValueInvalid', field: 'spec.title', message: 'it cannot change' }];
      return deny({ message: 'the title cannot change', causes });
    }
    return admit({ warnings: [`theme ${object.spec.theme}${dryRun ? ', dry run' : ''}`] });
  });

const shop = given(Namespace, { metadata: { name: 'shop' } });

it('calls a validating webhook with real requests, and interprets its responses like the API server', async () => {
  await using t = await testWebhook(Site, checkSites, { objects: [shop] });
  const site = { metadata, spec: { title: 'a' } };
  expect(await t.create(site)).toMatchObject({ allowed: true, warnings: ['theme light'], patch: [] });
  expect(await t.create(site, { dryRun: true })).toMatchObject({ warnings: ['theme light, dry run'] });
  expect(await t.update({ ...site, spec: { title: 'b' } }, site)).toMatchObject({
    allowed: false,
    code: 422,
    reason: 'Invalid',
    causes: [{ field: 'spec.title' }],
  });
  expect(await t.delete(site, { userInfo: { username: 'eve' } })).toMatchObject({
    allowed: false,
    message: 'eve may not',
  });
  expect(await t.delete(site)).toMatchObject({ allowed: true, object: undefined });
});

it('reads the caches that the webhook declares', async () => {
  await using t = await testWebhook(Site, checkSites, {});
  const outcome = await t.create({ metadata, spec: { title: 'a' } });
  expect(outcome).toMatchObject({ allowed: false, code: 403, message: 'there is no namespace shop' });
});

it('rejects with the error of the webhook function', async () => {
  await using t = await testWebhook(Site, checkSites, { objects: [shop] });
  await expect(t.create({ metadata, spec: { title: 'boom' } })).rejects.toThrow(new RangeError('it blew up'));
});

it('returns the object as changed by a mutating webhook', async () => {
  const upper = mutating(Site, { name: 'upper', operations: ['CREATE'] })
    .using<{ readonly prefix: string }>()
    .handle(({ object, deps }) => ({ ...object, spec: { ...object.spec, title: deps.prefix + object.spec.title } }));
  await using t = await testWebhook(Site, upper, { deps: { prefix: '> ' } });
  const { allowed, object, patch } = await t.create({ metadata, spec: { title: 'a' } });
  expect(allowed).toBe(true);
  expect(patch).toEqual([{ op: 'replace', path: '/spec/title', value: '> a' }]);
  const changed: ObjectOf<typeof Site> | undefined = object;
  expect(changed?.spec).toEqual({ title: '> a', theme: 'light' });
  await expect(t.delete({ metadata, spec: { title: 'a' } })).rejects.toMatchObject({
    code: 'BOWLINE_UNIT_TEST_INVALID',
  });
});

it('rejects a kind that the webhook does not handle', async () => {
  await expect(testWebhook(ConfigMap, checkSites, {})).rejects.toThrow('handles Site, not ConfigMap');
});
