import { ConfigMap, Namespace, ServiceAccount } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import type { OpenCluster } from './behaviour.test-support.ts';

/** namespaces tests the expected lifecycle of a namespace. */
export function namespaces(open: OpenCluster): void {
  it.concurrent('creates and restores the default objects of a namespace', async () => {
    await using c = await open();
    const account = await c.until(ServiceAccount, { name: 'default' }, () => true);
    const root = await c.until(ConfigMap, { name: 'kube-root-ca.crt' }, () => true);
    expect(root.data?.['ca.crt']).toContain('BEGIN CERTIFICATE');
    await c.admin.delete(ServiceAccount, { namespace: c.namespace, name: 'default' });
    await c.until(ServiceAccount, { name: 'default' }, ({ metadata }) => metadata?.uid !== account.metadata?.uid);
    const body = { data: { 'ca.crt': 'forged' } };
    await c.admin.patch(ConfigMap, { namespace: c.namespace, name: 'kube-root-ca.crt' }, { type: 'merge', body });
    await c.until(ConfigMap, { name: 'kube-root-ca.crt' }, ({ data }) => data?.['ca.crt'] === root.data?.['ca.crt']);
  });

  it.concurrent('empties a namespace that is deleted, and reports what remains', async () => {
    await using c = await open();
    const namespace = await c.createNamespace('going');
    await c.until(ServiceAccount, { namespace, name: 'default' }, () => true);
    const held = { namespace, name: 'held' };
    await c.admin.create(ConfigMap, { metadata: { ...held, finalizers: ['example.test/hold'] } });
    await c.admin.create(ConfigMap, { metadata: { namespace, name: 'plain' } });
    await c.admin.delete(Namespace, { name: namespace });

    const reports = (type: string, text: string) => (object: Namespace) =>
      object.status?.conditions?.some((each) => each.type === type && each.message?.includes(text)) ?? false;
    const waiting = await c.until(
      Namespace,
      { name: namespace },
      reports('NamespaceFinalizersRemaining', 'example.test/hold in 1 resource instances'),
    );
    expect(waiting.status?.phase).toBe('Terminating');
    const remaining = waiting.status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining');
    expect(remaining).toMatchObject({
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: configmaps. has 1 resource instances',
    });
    await c.admin.patch(ConfigMap, held, { type: 'merge', body: { metadata: { finalizers: null } } });
    await c.untilGone(Namespace, { name: namespace });
  });
}
