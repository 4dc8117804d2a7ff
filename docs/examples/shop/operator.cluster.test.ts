import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Deployment, Pod } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { PART, SHOP } from './desired.ts';
import { shops } from './operator.ts';
import { Shop } from './shop.ts';

const start = () => cluster({ operators: [shops], prefix: 'shops' });

function create(c: Cluster, settings: { adopt?: boolean; values?: Record<string, string> } = {}): Promise<Shop> {
  const metadata = { namespace: c.namespace, name: 'toys' };
  const spec = { image: 'toys:1', settings: { name: 'settings', values: { color: 'blue' }, ...settings } };
  return c.admin.create(Shop, Shop.withDefaults({ metadata, spec }));
}

function untilReady(c: Cluster, status: 'True' | 'False', reason: string): Promise<Shop> {
  return c.until(Shop, { name: 'toys' }, (shop) => {
    const ready = findCondition(shop, 'Ready');
    return ready?.status === status && ready.reason === reason;
  });
}

it('leaves settings alone that somebody else made, until it is told to take them over', async () => {
  await using c = await start();
  const key = { namespace: c.namespace, name: 'settings' };
  await c.admin.create(ConfigMap, { metadata: key, data: { color: 'red', size: 'small' } });
  await create(c);
  await untilReady(c, 'False', 'ForeignObject');
  expect((await c.admin.get(ConfigMap, key)).data).toEqual({ color: 'red', size: 'small' });

  const body = { spec: { settings: { adopt: true } } };
  await c.admin.patch(Shop, { namespace: c.namespace, name: 'toys' }, { type: 'merge', body });
  await untilReady(c, 'True', 'Reconciled');
  expect(await c.admin.get(ConfigMap, key)).toMatchObject({
    metadata: { labels: { [SHOP]: 'toys' } },
    data: { color: 'blue' },
  });
  const backup = await c.admin.get(ConfigMap, { ...key, name: 'settings-before-shop' });
  expect(backup.data).toEqual({ color: 'red', size: 'small' });
});

it('takes the back down when the last Pod of the front is gone, and leaves the settings', async () => {
  await using c = await start();
  await create(c);
  const pods = (part: string) => ({ labelSelector: `${PART}=${part}` });
  await c.untilList(Pod, pods('front'), (items) => items.length === 1);
  await c.untilList(Pod, pods('back'), (items) => items.length === 1);
  const hanging = await c.nodeAgent.pods.hangDeletion({ selector: `${PART}=front` });
  await c.admin.delete(Shop, { namespace: c.namespace, name: 'toys' });
  const { metadata } = await c.until(Deployment, { name: 'toys-front' }, (each) => isTerminating(each));
  expect(metadata?.finalizers).toEqual(['foregroundDeletion']);
  const waiting = await untilReady(c, 'False', 'ShuttingDown');
  expect(findCondition(waiting, 'Ready')?.message).toBe('waiting for toys-front to be deleted');
  await c.restart();
  expect(isTerminating(await c.admin.get(Deployment, { namespace: c.namespace, name: 'toys-back' }))).toBe(false);

  await hanging.release();
  await c.untilGone(Shop, { name: 'toys' });
  await c.untilGone(Deployment, { name: 'toys-back' });
  const settings = await c.admin.get(ConfigMap, { namespace: c.namespace, name: 'settings' });
  expect(settings.data).toEqual({ color: 'blue' });
  expect(settings.metadata?.labels).toBeUndefined();
});

it('leaves everything where the deletion orphans', async () => {
  await using c = await start();
  await create(c);
  await untilReady(c, 'True', 'Reconciled');
  await c.admin.delete(Shop, { namespace: c.namespace, name: 'toys' }, { propagationPolicy: 'Orphan' });
  // The garbage collector, which has a finalizer of its own on it, looks for new kinds every 30 s only.
  const isCleanedUp = ({ metadata }: Shop): boolean => !metadata?.finalizers?.includes('example.com/finalizer');
  await c.untilList(Shop, {}, (items) => items.every(isCleanedUp));
  for (const name of ['toys-front', 'toys-back']) {
    expect(isTerminating(await c.admin.get(Deployment, { namespace: c.namespace, name }))).toBe(false);
  }
});

function isTerminating({ metadata }: Deployment): boolean {
  return metadata?.deletionTimestamp !== undefined;
}
