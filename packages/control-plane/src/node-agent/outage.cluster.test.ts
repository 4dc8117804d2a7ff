import { Pod, ServiceAccount } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { startControlPlane } from '../start-control-plane.ts';
import { cluster } from '../testing/cluster.ts';
import { sharedControlPlane } from '../testing/shared-control-plane.ts';

it('continues after the API server was killed, with one write for each Pod', async () => {
  // Skips the test if no control plane can be started.
  const { kind } = await sharedControlPlane();
  await using controlPlane = await startControlPlane({ kind, nodes: 1 });
  await using c = await cluster({ controlPlane });
  await c.until(ServiceAccount, { name: 'default' }, () => true);
  const create = (name: string): Promise<Pod> =>
    c.admin.create(Pod, {
      metadata: { name, namespace: c.namespace },
      spec: { containers: [{ name: 'main', image: 'example.test/main' }] },
    });
  const running = (name: string): Promise<Pod> =>
    c.until(Pod, { name }, ({ status }) => status?.phase === 'Running', { timeoutMs: 40_000 });
  /** The Pods that the agent wrote. A write that conflicts with another is rejected and retried; only stored writes count. */
  const written = async (): Promise<readonly (string | undefined)[]> => {
    const events = await controlPlane.audit();
    return events
      .filter(({ user, verb }) => user.username === 'bowline:node-agent' && ['patch', 'delete'].includes(verb))
      .filter(({ objectRef, responseStatus }) => objectRef?.resource === 'pods' && responseStatus?.code === 200)
      .map(({ objectRef }) => objectRef?.name);
  };
  await create('before');
  const before = await running('before');
  // A killed API server loses what it has not logged yet.
  await expect.poll(written).toEqual(['before']);

  await controlPlane.kill('kube-apiserver');
  await controlPlane.restart('kube-apiserver');
  await create('after');
  await running('after');
  expect((await running('before')).metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  await expect.poll(written).toEqual(['before', 'after']);
});
