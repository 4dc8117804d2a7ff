import { Pod } from '@bowline/kubernetes';
import { given, testController } from '@bowline/runtime/testing';
import { expect, it } from 'vitest';
import { AGENT_CONTAINER, POD_ANNOTATIONS } from '../api/names.ts';
import { SyncProfile } from '../api/sync-profile.ts';
import { profileController } from './profile-controller.ts';

const NAMESPACE = 'plant';
const key = { namespace: NAMESPACE, name: 'edge' };
const mappings = [{ source: 'a', destination: 'projects' }];
const dependsOn = [{ profileName: 'base' }];

const podNaming = (name: string, profile: string, phase: 'Running' | 'Pending' = 'Running') =>
  given(Pod, {
    metadata: { namespace: NAMESPACE, name, annotations: { [POD_ANNOTATIONS.syncProfile]: profile } },
    spec: { containers: [{ name: 'gateway' }], initContainers: [{ name: AGENT_CONTAINER }] },
    status: { phase },
  });

it('a profile reports its gateways, and is not written again', async () => {
  await using t = await testController(profileController, {
    objects: [
      given(SyncProfile, { metadata: key, spec: { mappings } }),
      podNaming('site-0', 'edge'),
      podNaming('site-1', 'edge', 'Pending'),
      podNaming('area-0', 'other'),
    ],
  });
  await t.reconcile(key);
  expect(t.get(SyncProfile, key)?.status).toMatchObject({
    gatewayCount: 1,
    conditions: [
      { type: 'Accepted', status: 'True', reason: 'ValidationPassed' },
      { type: 'Ready', status: 'True' },
    ],
  });
  await t.reconcile(key);
  expect(t.writes).toEqual([]);
});

it('a profile that is not accepted reports why, and is accepted when the reason is gone', async () => {
  const base = { namespace: NAMESPACE, name: 'base' };
  await using t = await testController(profileController, {
    objects: [given(SyncProfile, { metadata: key, spec: { mappings, dependsOn } })],
  });
  await expect(t.reconcile(key)).rejects.toMatchObject({ reason: 'DependencyNotFound' });
  const accepted = () => t.get(SyncProfile, key)?.status?.conditions?.find(({ type }) => type === 'Accepted');
  expect(accepted()).toMatchObject({ status: 'False', reason: 'DependencyNotFound' });
  expect(t.events).toMatchObject([{ type: 'Warning', reason: 'DependencyNotFound' }]);
  t.put(SyncProfile, SyncProfile.withDefaults({ metadata: base, spec: { mappings } }));
  await t.reconcile(key);
  expect(accepted()).toMatchObject({ status: 'True', reason: 'ValidationPassed' });
});
