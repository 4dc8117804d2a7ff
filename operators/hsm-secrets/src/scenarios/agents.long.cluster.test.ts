import { Deployment, Pod, Secret, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { describe, expect, it, vi } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import { agentName } from '../api/names.ts';
import { type HsmCluster, type HsmClusterOptions, hsmCluster } from '../testing/hsm-cluster.test-support.ts';
import { ScriptedAgents } from '../testing/scripted-agents.test-support.ts';

const PKCS11 = { libraryPath: '/usr/lib/libsc-hsm-pkcs11.so', pinSecret: { name: 'pin', key: 'pin' } };
const TEST_MODE = { annotations: { 'hsm.j5t.io/test-mode': 'true' } };
const DEPLOYMENT = agentName('pico', 'A1');

const reasonOf = (pool: HSMPool, type: string): string | undefined => findCondition(pool, type)?.reason;

async function createPin(c: HsmCluster, pin = '1234'): Promise<Secret> {
  const metadata = { namespace: c.namespace, name: 'pin' };
  return await c.admin.create(Secret, { metadata, data: { pin: Buffer.from(pin).toString('base64') } });
}

/** A device with an agent whose pod runs. */
async function withAgent(options: HsmClusterOptions = {}) {
  const agents = new ScriptedAgents();
  const c = await hsmCluster({ nodes: 1, agents, ...options });
  await createPin(c);
  await c.createDevice('pico', { pkcs11: PKCS11 }, TEST_MODE);
  const [node = ''] = c.nodes;
  await c.report(await c.discoveryPod('pico', node), ['A1']);
  const deployment = await c.until(Deployment, { name: DEPLOYMENT }, () => true);
  const [pod] = await c.untilList(
    Pod,
    { labelSelector: 'app.kubernetes.io/component=agent' },
    (pods) => pods.length === 1,
  );
  return { c, agents, deployment, node, pod: pod as Pod };
}

/**
 * eventually waits for a state of the pool, and lets time pass: a run that had a conflict with another controller is
 * repeated by a timer.
 */
async function eventually(c: HsmCluster, test: (pool: HSMPool) => boolean): Promise<HSMPool> {
  return await vi.waitFor(
    async () => {
      await c.advanceTime(500);
      const pool = await c.pool('pico');
      if (!test(pool)) throw new Error(`the pool has the status ${JSON.stringify(pool.status?.agents)}`);
      return pool;
    },
    { timeout: 30_000, interval: 200 },
  );
}

it('scenario 23 gives each device with a serial number an agent without a token, on its node', async () => {
  await using c = await hsmCluster({ nodes: 1 });
  await createPin(c);
  await c.createDevice('pico', { pkcs11: { ...PKCS11, tokenLabel: 'keys' } });
  const [node = ''] = c.nodes;
  await c.report(await c.discoveryPod('pico', node), ['A1', { devicePath: '/dev/ttyACM0' }]);
  const { spec, metadata } = await c.until(Deployment, { name: DEPLOYMENT }, () => true);
  const pool = await c.pool('pico');
  expect(metadata?.ownerReferences?.[0]).toMatchObject({ kind: 'HSMPool', uid: pool.metadata?.uid, controller: true });
  expect(spec?.strategy?.type).toBe('Recreate');
  const pod = spec?.template.spec;
  expect(pod).toMatchObject({ serviceAccountName: 'pico-agent', automountServiceAccountToken: false });
  expect(pod?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
    { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] },
  ]);
  const [container] = pod?.containers ?? [];
  expect(container?.args).toEqual(
    expect.arrayContaining([
      'agent',
      '--serial-number=A1',
      '--token-label=keys',
      '--pin-file=/run/hsm-secrets/pin/pin',
      '--pcscd',
    ]),
  );
  expect(container?.resources?.limits).toMatchObject({ 'hsm.j5t.io/A1': '1' });
  expect(JSON.stringify(spec)).not.toContain('1234');
  const { items } = await c.admin.list(Deployment, { namespace: c.namespace });
  expect(items).toHaveLength(1);
  const agent = await c.clientFor({ serviceAccount: { namespace: c.namespace, name: 'pico-agent' } });
  await expect(agent.list(Secret, { namespace: c.namespace })).rejects.toMatchObject({ status: 403 });
});

describe('the creation of an agent', () => {
  it('scenario 24 waits for a ready discovery pod on the node, and an existing agent stays', async () => {
    await using c = await hsmCluster({ nodes: 1 });
    await createPin(c);
    const [node = ''] = c.nodes;
    await c.createDevice('pico', { pkcs11: PKCS11 }, TEST_MODE);
    const pod = await c.discoveryPod('pico', node);
    const held = await c.nodeAgent.pods.notReady({ selector: 'app.kubernetes.io/component=discovery' });
    await c.until(Pod, { name: pod.metadata?.name ?? '' }, ({ status }) =>
      Boolean(status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'False')),
    );
    await c.report(pod, ['A1']);
    const deferred = await c.untilPool('pico', (_, pool) => reasonOf(pool, 'AgentsReady') === 'AgentDeferred');
    expect(findCondition(deferred, 'AgentsReady')?.message).toContain(`the discovery pod on ${node} is not ready`);
    await c.untilEvent('pico-pool', 'AgentDeferred');
    expect(await c.admin.find(Deployment, { namespace: c.namespace, name: DEPLOYMENT })).toBeUndefined();
    await held.release();
    const created = await c.until(Deployment, { name: DEPLOYMENT }, () => true);
    await c.nodeAgent.pods.notReady({ selector: 'app.kubernetes.io/component=discovery' });
    await c.until(Pod, { name: pod.metadata?.name ?? '' }, ({ status }) =>
      Boolean(status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'False')),
    );
    await c.idle();
    const kept = await c.admin.get(Deployment, { namespace: c.namespace, name: DEPLOYMENT });
    expect(kept.metadata?.uid).toBe(created.metadata?.uid);
  });

  it('scenario 25 is repeated slowly after kubelet has rejected its pod', async () => {
    await using c = await hsmCluster({ nodes: 1 });
    await createPin(c);
    const [node = ''] = c.nodes;
    const rejected = await c.nodeAgent.pods.fail(
      { selector: 'app.kubernetes.io/component=agent' },
      { reason: 'UnexpectedAdmissionError', message: 'no device' },
    );
    await c.createDevice('pico', { pkcs11: PKCS11 }, TEST_MODE);
    await c.report(await c.discoveryPod('pico', node), ['A1']);
    await c.untilPool('pico', (_, pool) =>
      Boolean(findCondition(pool, 'AgentsReady')?.message.includes('kubelet rejected its pod')),
    );
    await c.untilGone(Deployment, { name: DEPLOYMENT });
    await c.untilList(Pod, { labelSelector: 'app.kubernetes.io/component=agent' }, (pods) => pods.length === 0);
    await c.idle();
    await c.advanceTime(19_000);
    expect(await c.admin.find(Deployment, { namespace: c.namespace, name: DEPLOYMENT })).toBeUndefined();
    await rejected.release();
    await c.advanceTime(1_000);
    await c.until(Deployment, { name: DEPLOYMENT }, ({ status }) => status?.readyReplicas === 1);
  });

  it('scenario 27 waits for the Secret of the PIN and its key, in the namespace of the device', async () => {
    await using c = await hsmCluster({ nodes: 1 });
    const { namespace, admin } = c;
    const [node = ''] = c.nodes;
    const elsewhere = { ...PKCS11, pinSecret: { ...PKCS11.pinSecret, namespace: 'kube-system' } };
    await c.createDevice('pico', { pkcs11: elsewhere }, TEST_MODE);
    await c.report(await c.discoveryPod('pico', node), ['A1']);
    await c.untilPool('pico', (_, pool) => reasonOf(pool, 'PINAvailable') === 'CrossNamespacePIN');
    const spec = { pkcs11: { pinSecret: { ...PKCS11.pinSecret, namespace: null } } };
    await admin.patch(HSMDevice, { namespace, name: 'pico' }, { type: 'merge', body: { spec } });
    await c.untilPool('pico', (_, pool) => reasonOf(pool, 'PINAvailable') === 'PINSecretMissing');
    await admin.create(Secret, { metadata: { namespace, name: 'pin' }, data: { other: 'eA==' } });
    await c.untilPool('pico', (_, pool) => reasonOf(pool, 'PINAvailable') === 'PINKeyMissing');
    await c.untilEvent('pico-pool', 'PINUnavailable', 'PINKeyMissing');
    expect(await admin.find(Deployment, { namespace, name: DEPLOYMENT })).toBeUndefined();
    await admin.patch(Secret, { namespace, name: 'pin' }, { type: 'merge', body: { data: { pin: 'MTIzNA==' } } });
    await c.until(Deployment, { name: DEPLOYMENT }, () => true);
    await c.untilPool('pico', (_, pool) => reasonOf(pool, 'PINAvailable') === 'Available');
  });

  it('scenario 28 does not happen while reports are not guarded', async () => {
    await using c = await hsmCluster({ nodes: 1 });
    await createPin(c);
    const { items } = await c.admin.list(ValidatingAdmissionPolicyBinding, {
      labelSelector: `bowline.dev/installed-in=${c.managerNamespace}`,
    });
    const binding = items.find(({ metadata }) => metadata?.name?.endsWith('-reports'));
    const { name = '' } = binding?.metadata ?? {};
    await c.admin.delete(ValidatingAdmissionPolicyBinding, { name });
    await c.createDevice('pico', { pkcs11: PKCS11 }, TEST_MODE);
    await c.untilPool('pico', (_, pool) => reasonOf(pool, 'ReportsGuarded') === 'BindingMissing');
    const [node = ''] = c.nodes;
    await c.report(await c.discoveryPod('pico', node), ['A1']);
    await c.untilPool('pico', (_, pool) =>
      Boolean(findCondition(pool, 'AgentsReady')?.message.includes('reports are not guarded')),
    );
    expect(await c.admin.find(Deployment, { namespace: c.namespace, name: DEPLOYMENT })).toBeUndefined();
    const { metadata: { labels } = {}, spec } = binding ?? {};
    await c.admin.create(ValidatingAdmissionPolicyBinding, { metadata: { name, labels }, spec });
    await c.until(Deployment, { name: DEPLOYMENT }, () => true);
  });
});

describe('an agent', () => {
  it('scenario 26 is replaced once when its image changes, and repaired when others change it', async () => {
    const { c, deployment } = await withAgent();
    await using _ = c;
    const { namespace, admin } = c;
    const key = { namespace, name: DEPLOYMENT };
    const body = { spec: { image: 'example.test/bowline:2' } };
    await admin.patch(HSMDevice, { namespace, name: 'pico' }, { type: 'merge', body });
    const image = ({ spec }: Deployment): string | undefined => spec?.template.spec?.containers[0]?.image;
    const updated = await c.until(Deployment, key, (each) => image(each) === 'example.test/bowline:2');
    expect(updated.metadata?.generation).toBe((deployment.metadata?.generation ?? 0) + 1);
    await admin.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 3 } } });
    await c.until(Deployment, key, ({ spec, metadata }) => spec?.replicas === 1 && (metadata?.generation ?? 0) > 2);
  });

  it('scenario 21 moves to the node of its device with one rollout, and is removed with the device', async () => {
    const { c, deployment } = await withAgent({ nodes: 2 });
    await using _ = c;
    const [a = '', b = ''] = c.nodes;
    await c.report(await c.discoveryPod('pico', a), []);
    await c.report(await c.discoveryPod('pico', b), ['A1']);
    const moved = await c.until(Deployment, { name: DEPLOYMENT }, ({ spec }) => JSON.stringify(spec).includes(b));
    expect(moved.metadata?.uid).toBe(deployment.metadata?.uid);
    expect(moved.metadata?.generation).toBe((deployment.metadata?.generation ?? 0) + 1);
    await c.report(await c.discoveryPod('pico', b), []);
    await c.untilPool('pico', ({ availableDevices }) => availableDevices === 0);
    await c.idle();
    expect(await c.admin.find(Deployment, { namespace: c.namespace, name: DEPLOYMENT })).toBeDefined();
    await c.advanceTime(300_001);
    await c.untilGone(Deployment, { name: DEPLOYMENT });
  });

  it.each(['PINLocked', 'PINFinalTry', 'TokenNotFound', 'LibraryMissing', 'Pkcs11Unavailable'])(
    'scenario 27 that reports %s is not ready, and its PIN is not tried again',
    async (reason) => {
      const { c, agents, pod, node } = await withAgent();
      await using _ = c;
      const device = { namespace: c.namespace, name: 'pico' };
      const message = 'something to do';
      const agent = { serialNumber: 'A1', nodeName: node, podUID: pod.metadata?.uid ?? '', pin: '1234' };
      agents.set(device, [{ ...agent, problem: { reason, message } }]);
      const type = reason.startsWith('PIN') ? 'PINAvailable' : 'AgentsReady';
      const pool = await eventually(c, (each) => reasonOf(each, type) === reason);
      expect(pool.status?.agents).toMatchObject([{ serialNumber: 'A1', ready: false, reason, message }]);
      agents.set(device, [agent]);
      const ready = await eventually(c, (each) => reasonOf(each, 'AgentsReady') === 'AllReady');
      expect(ready.status?.agents).toEqual([
        {
          serialNumber: 'A1',
          nodeName: node,
          deployment: DEPLOYMENT,
          ready: true,
          tokenLabel: 'scripted',
          tokenSerial: 'A1',
        },
      ]);
      expect(agents.retries).toEqual([]);
    },
  );

  it('scenario 27 with an uncertain PIN tries it once per version of its Secret, across restarts of the manager', async () => {
    const { c, agents, pod, node } = await withAgent();
    await using _ = c;
    const { namespace, admin } = c;
    const problem = { reason: 'PINUncertain', message: 'a wrong PIN was entered before' };
    const afterRetry = { reason: 'PINIncorrect', message: 'the token refused the PIN' };
    const agent = { serialNumber: 'A1', nodeName: node, podUID: pod.metadata?.uid ?? '', problem, afterRetry };
    // kubelet has not updated the file yet: the agent has another PIN than the Secret.
    agents.set({ namespace, name: 'pico' }, [{ ...agent, pin: 'old' }]);
    await eventually(c, (pool) => reasonOf(pool, 'PINAvailable') === 'PINUncertain');
    await c.idle();
    expect(agents.retries).toEqual([]);
    agents.set({ namespace, name: 'pico' }, [{ ...agent, pin: '1234' }]);
    const refused = await eventually(c, (pool) => reasonOf(pool, 'PINAvailable') === 'PINIncorrect');
    const secret = await admin.get(Secret, { namespace, name: 'pin' });
    expect(refused.status?.agents?.[0]?.refusedPin).toBe(secret.metadata?.resourceVersion);
    for (let restart = 0; restart < 2; restart += 1) {
      await c.restart();
      agents.set({ namespace, name: 'pico' }, [{ ...agent, pin: '1234' }]);
      await c.idle();
      await c.advanceTime(120_000);
    }
    expect(agents.retries).toEqual(['A1']);
    const data = { pin: Buffer.from('5678').toString('base64') };
    await admin.patch(Secret, { namespace, name: 'pin' }, { type: 'merge', body: { data } });
    agents.set({ namespace, name: 'pico' }, [{ ...agent, pin: '5678', afterRetry: undefined }]);
    await eventually(c, (pool) => reasonOf(pool, 'AgentsReady') === 'AllReady');
    expect(agents.retries).toEqual(['A1', 'A1']);
  });
});
