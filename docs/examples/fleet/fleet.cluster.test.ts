import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Pod, RoleBinding, ValidatingAdmissionPolicy } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { expect, it, vi } from 'vitest';
import { REPORT } from './companions.ts';
import { Fleet } from './fleet.ts';
import { fleet } from './operator.ts';

const patience = { timeout: 20_000, interval: 50 };

it('lets an agent write its own report, and no other', async () => {
  await using c = await cluster({ operators: [fleet] });
  const { namespace } = c;
  await c.admin.create(Fleet, { metadata: { namespace, name: 'scan' }, spec: { image: 'scan:1' } });
  const [first, second] = await c.untilList(Pod, { labelSelector: 'app=scan' }, (pods) => pods.length > 0);
  const pod = first?.metadata?.name ?? '';
  const report = (name: string) => ({ metadata: { namespace, name, labels: { [REPORT]: 'disks' } } });

  const serviceAccount = { namespace, name: 'scan' };
  const agent = await c.clientFor({ serviceAccount, pod });
  await vi.waitFor(() => agent.create(ConfigMap, report(pod)), patience);
  const other = second?.metadata?.name ?? 'other';
  await expect(agent.create(ConfigMap, report(other))).rejects.toThrow('written by the Pod that it is named after');
  const stolen = await c.clientFor({ serviceAccount });
  await expect(stolen.create(ConfigMap, report(other))).rejects.toThrow('written by the Pod that it is named after');
});

it('starts no agents while reports are not guarded', async () => {
  await using c = await cluster({ operators: [fleet] });
  const labelSelector = `example.com/installed-in=${c.managerNamespace}`;
  await c.admin.deleteCollection(ValidatingAdmissionPolicy, { labelSelector });
  await c.restart();
  await c.admin.create(Fleet, { metadata: { namespace: c.namespace, name: 'scan' }, spec: { image: 'scan:1' } });
  await c.until(Fleet, { name: 'scan' }, (object) => findCondition(object, 'Ready')?.reason === 'Unguarded');
  expect(await c.admin.find(RoleBinding, { namespace: c.namespace, name: 'scan' })).toBeUndefined();
});
