import { apiVersionOf, ConfigMap, keyOf, type OwnerReference, Secret } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import type { Cluster } from '../../testing/cluster.ts';
import type { OpenCluster } from './behaviour.test-support.ts';

/** garbageCollection tests the expected behaviour of owner references. */
export function garbageCollection(open: OpenCluster): void {
  it.concurrent('deletes the dependents of a deleted owner, and their dependents in turn', async () => {
    await using c = await open();
    const owner = await make(c, 'owner');
    const child = await make(c, 'child', [refer(owner)]);
    await make(c, 'grandchild', [refer(child)]);
    await c.admin.delete(ConfigMap, keyOf(owner), { propagationPolicy: 'Background' });
    await c.untilGone(ConfigMap, { name: 'grandchild' });
    await c.untilGone(ConfigMap, { name: 'child' });
  });

  it.concurrent('keeps an owner that is deleted in the foreground until its blocking dependents are gone', async () => {
    await using c = await open();
    const owner = await make(c, 'owner');
    const kept = { metadata: { ...named(c, 'kept'), finalizers: ['example.test/hold'] } };
    const dependent = await c.admin.create(ConfigMap, {
      metadata: { ...kept.metadata, ownerReferences: [{ ...refer(owner), blockOwnerDeletion: true }] },
    });
    await c.admin.delete(ConfigMap, keyOf(owner), { propagationPolicy: 'Foreground' });
    await c.until(ConfigMap, { name: 'kept' }, ({ metadata }) => metadata?.deletionTimestamp !== undefined);
    const waiting = await c.admin.get(ConfigMap, keyOf(owner));
    expect(waiting.metadata?.finalizers).toEqual(['foregroundDeletion']);
    const body = { metadata: { finalizers: null } };
    await c.admin.patch(ConfigMap, keyOf(dependent), { type: 'merge', body });
    await c.untilGone(ConfigMap, { name: 'owner' });
  });

  it.concurrent('removes the owner references of dependents that are orphaned', async () => {
    await using c = await open();
    const owner = await make(c, 'owner');
    const child = await make(c, 'child', [refer(owner)]);
    await c.until(ConfigMap, { name: 'child' }, () => true);
    await c.admin.delete(ConfigMap, keyOf(owner), { propagationPolicy: 'Orphan' });
    await c.untilGone(ConfigMap, { name: 'owner' });
    const left = await c.until(ConfigMap, { name: 'child' }, ({ metadata }) => !metadata?.ownerReferences?.length);
    expect(left.metadata?.uid).toBe(child.metadata?.uid);
  });

  it.concurrent.each<[string, (owner: ConfigMap) => Partial<OwnerReference>]>([
    ['does not exist', () => ({ name: 'missing' })],
    ['has another uid', () => ({ uid: '00000000-0000-4000-8000-000000000000' })],
  ])('deletes an object whose owner %s', async (_, wrong) => {
    await using c = await open();
    const owner = await make(c, 'owner');
    await make(c, 'stray', [{ ...refer(owner), ...wrong(owner) }]);
    await c.untilGone(ConfigMap, { name: 'stray' });
    await c.admin.get(ConfigMap, keyOf(owner));
  });

  it.concurrent('deletes an object whose owner is in another namespace', async () => {
    await using c = await open();
    const owner = await make(c, 'owner');
    const elsewhere = await c.createNamespace();
    const metadata = { name: 'stray', namespace: elsewhere, ownerReferences: [refer(owner)] };
    await c.admin.create(Secret, { metadata });
    await c.untilGone(Secret, { namespace: elsewhere, name: 'stray' });
  });

  it.concurrent('removes the reference to one of two owners, and keeps the object for the other', async () => {
    await using c = await open();
    const [one, other] = [await make(c, 'one'), await make(c, 'other')];
    await make(c, 'shared', [refer(one), refer(other)]);
    await c.admin.delete(ConfigMap, keyOf(one));
    const shared = await c.until(
      ConfigMap,
      { name: 'shared' },
      ({ metadata }) => metadata?.ownerReferences?.length === 1,
    );
    expect(shared.metadata?.ownerReferences?.[0]?.uid).toBe(other.metadata?.uid);
  });
}

function named(c: Cluster, name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace: c.namespace };
}

function make(c: Cluster, name: string, ownerReferences: readonly OwnerReference[] = []): Promise<ConfigMap> {
  return c.admin.create(ConfigMap, { metadata: { ...named(c, name), ownerReferences } });
}

function refer({ metadata }: ConfigMap): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: apiVersionOf(ConfigMap), kind: ConfigMap.kind, name, uid };
}
