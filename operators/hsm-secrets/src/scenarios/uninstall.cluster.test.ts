import { kubectlOf } from '@bowline/control-plane/testing';
import { DaemonSet, Deployment, type KubernetesObject, type Resource, Secret } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { expect, it } from 'vitest';
import { temporaryFiles } from '../../../../apps/bowline/src/testing/child-process.test-support.ts';
import { bowline } from '../../../../apps/bowline/src/testing/test-operators.test-support.ts';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { agentName, discoveryName, poolName } from '../api/names.ts';
import { hsmSecrets } from '../operator.ts';
import { DEVICE, secretsCluster } from '../testing/secrets-cluster.test-support.ts';

const registry = { 'hsm-secrets': { summary: 'HSM', load: () => Promise.resolve(hsmSecrets) } };
const spec = { pkcs11: { libraryPath: '/usr/lib/pkcs11.so', pinSecret: { name: 'pin', key: 'pin' } } };

it('uninstall removes discovery and agents, and keeps HSMDevices, pools, HSMSecrets and Secrets for a new install', async () => {
  // Workloads are kept while another install could use them.
  await using c = await secretsCluster({ spec, isolation: 'control-plane' });
  await using files = await temporaryFiles();
  const { admin, namespace } = c;
  const discovery = { namespace, name: discoveryName(DEVICE) };
  const agent = { namespace, name: agentName(DEVICE, 'S1') };
  await admin.create(Secret, { metadata: { namespace, name: 'pin' }, data: { pin: 'MTIzNA==' } });
  await c.until(Deployment, agent, () => true);
  await c.devices[0]?.write('database', { password: 'kept' });
  await c.createSecret('database');
  await c.untilSynced('database');
  await c.until(Secret, { name: 'database' }, ({ metadata }) => metadata?.ownerReferences !== undefined);
  const kept: readonly [Resource<KubernetesObject>, string][] = [
    [HSMDevice, DEVICE],
    [HSMPool, poolName(DEVICE)],
    [HSMSecret, 'database'],
    [Secret, 'database'],
    [Secret, 'pin'],
  ];
  const uidsOf = (): Promise<readonly unknown[]> =>
    Promise.all(
      kept.map(async ([resource, name]) => (await admin.find(resource, { namespace, name }))?.metadata?.uid ?? name),
    );
  await c.stop();
  const uids = await uidsOf();

  const kubectl = await kubectlOf(c);
  const home = await c.createNamespace('install');
  const where = ['--operators', 'hsm-secrets', '--namespace', home];
  const manifests = await bowline(
    ['manifests', ...where, '--image', 'bowline:test', '--namespaces', namespace, '-o', 'json'],
    { registry },
  );
  const { items } = JSON.parse(manifests.out) as { items: KubernetesObject[] };
  const installed = items.filter(({ kind }) => kind !== 'CustomResourceDefinition' && kind !== 'Namespace');
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: installed });
  c.onDispose(() => kubectl(['delete', '--ignore-not-found', '--wait=false', '-f', '-'], list));
  await kubectl(['apply', '--server-side', '-f', '-'], list);
  const kubeconfig = await files.write('kubeconfig', JSON.stringify(await c.kubeconfig('admin')));
  const { code, err } = await bowline(['uninstall', ...where, '--kubeconfig', kubeconfig, '--yes'], { registry });
  expect([code, err]).toEqual([0, expect.stringContaining(`removed DaemonSet ${namespace}/${discovery.name}`)]);
  const removed = [...err.matchAll(/^removed (\w+) (\S+)$/gm)].map(([, kind, name]) => `${kind} ${name}`);
  // The manager would create its workloads again, and pods of agents hold a PIN: permissions and policies go last.
  const order = [
    `Deployment ${home}/bowline`,
    `DaemonSet ${namespace}/${discovery.name}`,
    `Deployment ${agent.namespace}/${agent.name}`,
    removed.find((name) => name.startsWith('Role ')) ?? 'a Role',
    removed.find((name) => name.startsWith('ValidatingAdmissionPolicyBinding ')) ?? 'a binding',
    removed.find((name) => name.startsWith('ValidatingAdmissionPolicy ')) ?? 'a policy',
  ];
  expect(removed.filter((name) => order.includes(name))).toEqual(order);
  expect(await admin.find(DaemonSet, discovery)).toBeUndefined();
  expect(await admin.find(Deployment, agent)).toBeUndefined();
  expect(await uidsOf()).toEqual(uids);
  expect(await c.valuesOf('database')).toEqual({ password: 'kept' });

  // A new install continues with them.
  await c.devices[0]?.write('database', { password: 'changed' });
  await c.restart();
  await c.report(await c.discoveryPod(DEVICE, c.nodes[0] ?? ''), ['S1']);
  await c.untilPool(DEVICE, (_, pool) => findCondition(pool, 'Ready')?.status === 'True');
  await c.until(Deployment, agent, () => true);
  await c.advanceTime(60_000);
  await c.until(
    Secret,
    { name: 'database' },
    ({ data }) => data?.password === Buffer.from('changed').toString('base64'),
  );
  expect(await uidsOf()).toEqual(uids);
}, 120_000);
