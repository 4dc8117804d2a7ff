import { isDeepStrictEqual } from 'node:util';
import { HSMDevice, HSMPool, HSMSecret } from '@bowline/hsm-secrets';
import {
  DaemonSet,
  Deployment,
  type KubernetesObject,
  NetworkPolicy,
  Pod,
  type Resource,
  RoleBinding,
  Secret,
  ServiceAccount,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { hsmSecretsWith } from '../../../../operators/hsm-secrets/src/operator.ts';
import { TokenAgents } from '../../../../operators/hsm-secrets/src/testing/token-agents.test-support.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

const DEVICE = 'pico';
const SERIAL = 'S1';
const NODE = 'node';
const REPORT = 'hsm.j5t.io/device-report';
const DAMAGED = Buffer.from('damaged').toString('base64');

/** No agent runs here; a software token answers instead of each. */
const agents = new TokenAgents();

/** The objects of an HSMDevice, each with a change that has to be reverted. */
const DRIFT: readonly { readonly kind: Resource<KubernetesObject>; readonly name: string; readonly body: object }[] = [
  { kind: HSMPool, name: 'pico-pool', body: { metadata: { labels: { 'hsm.j5t.io/device': 'x' } } } },
  { kind: ServiceAccount, name: 'pico-discovery', body: { automountServiceAccountToken: true } },
  { kind: RoleBinding, name: 'pico-discovery', body: { subjects: [] } },
  { kind: NetworkPolicy, name: 'pico-agent', body: { spec: { ingress: [] } } },
  { kind: Secret, name: 'pico-agent-tls', body: { data: { 'tls.crt': DAMAGED } } },
  { kind: DaemonSet, name: 'pico-discovery', body: { spec: { template: { spec: { tolerations: [] } } } } },
  { kind: Deployment, name: 'hsm-agent-pico-s1', body: { spec: { replicas: 3 } } },
];

/**
 * A device is found, gets its objects and an agent, which are repaired; a secret is delivered and deleted; and discovery and the
 * agent are removed when the device is suspended.
 */
async function play(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: DEVICE };
  await stage.until(ServiceAccount, { name: 'default' }, () => true);
  await admin.create(Secret, { metadata: { namespace, name: 'pin' }, stringData: { pin: '648219' } });
  const spec = {
    deviceType: 'PicoHSM',
    discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] },
    pkcs11: { libraryPath: '/usr/lib/library.so', pinSecret: { name: 'pin', key: 'pin' } },
  };
  await admin.create(HSMDevice, HSMDevice.withDefaults({ metadata: key, spec }));
  const daemonSet = await stage.until(DaemonSet, { name: 'pico-discovery' }, () => true);
  await createReadyPod(stage, daemonSet);
  await stage.until(HSMPool, { name: 'pico-pool' }, ({ status }) => status?.availableDevices === 1);
  await stage.until(Deployment, { name: 'hsm-agent-pico-s1' }, () => true);
  for (const times of [1, 2]) await returnDevice(stage, times);
  for (const { kind, name, body } of DRIFT) await repairs(stage, kind, { namespace, name }, body);
  const authority = { namespace: stage.managerNamespace, name: 'hsm-secrets-mtls' };
  await repairs(stage, Secret, authority, { data: { 'tls.crt': DAMAGED } });
  await noticesGuards(stage);
  await deliver(stage);
  await admin.patch(HSMDevice, key, { type: 'merge', body: { spec: { suspend: true } } });
  await stage.untilGone(DaemonSet, { name: 'pico-discovery' });
  await stage.untilGone(Deployment, { name: 'hsm-agent-pico-s1' });
}

/** No controller creates the pods of a DaemonSet here. */
async function createReadyPod({ admin, namespace }: Stage, daemonSet: DaemonSet): Promise<void> {
  const { name = '', uid = '' } = daemonSet.metadata ?? {};
  await admin.create(Pod, {
    metadata: {
      namespace,
      name: 'discovery',
      labels: daemonSet.spec?.template.metadata?.labels,
      annotations: { [REPORT]: report(true) },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: DaemonSet.kind, name, uid, controller: true }],
    },
    spec: { nodeName: NODE, containers: [{ name: 'discovery', image: 'example.test/bowline:1' }] },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await admin.patch(
    Pod,
    { namespace, name: 'discovery' },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
}

/** returnDevice unplugs the device and plugs it in again. The second time the count of the event is increased. */
async function returnDevice(stage: Stage, times: number): Promise<void> {
  const { admin, namespace } = stage;
  for (const available of [false, true]) {
    const body = { metadata: { annotations: { [REPORT]: report(available) } } };
    // The same event in two runs without a pause between them is sent once.
    await stage.idle();
    await admin.patch(Pod, { namespace, name: 'discovery' }, { type: 'merge', body });
    await stage.until(HSMPool, { name: 'pico-pool' }, ({ status }) => status?.availableDevices === (available ? 1 : 0));
  }
  await untilEvent(stage, 'DeviceReturned', times);
}

function report(available: boolean): string {
  return JSON.stringify({
    hsmDeviceName: DEVICE,
    reportingNode: NODE,
    discoveredDevices: [{ devicePath: '/dev/hsm', serialNumber: SERIAL, available }],
    lastReportTime: new Date().toISOString(),
    discoveryStatus: 'completed',
  });
}

/** repairs waits until a change is reverted: the object has its content again, except for its metadata. */
async function repairs(
  stage: Stage,
  kind: Resource<KubernetesObject>,
  key: { readonly namespace: string; readonly name: string },
  body: object,
): Promise<void> {
  const before = contentOf(await stage.until(kind, key, () => true));
  await stage.admin.patch(kind, key, { type: 'merge', body });
  // A damaged certificate is replaced by another one.
  const isRepaired = (object: KubernetesObject): boolean =>
    kind.id === Secret.id ? !JSON.stringify(object).includes(DAMAGED) : isDeepStrictEqual(contentOf(object), before);
  await stage.until(kind, key, isRepaired);
}

function contentOf(object: KubernetesObject): readonly unknown[] {
  const { metadata = {}, status: _, ...content } = object as KubernetesObject & { readonly status?: unknown };
  return [metadata.labels, content];
}

/** noticesGuards weakens each admission policy and each binding of the install, which the pool reports. */
async function noticesGuards(stage: Stage): Promise<void> {
  const { admin } = stage;
  // The names of the other objects of the install begin like that of its ClusterRole.
  const { roleRef } = await stage.until(RoleBinding, { name: 'pico-discovery' }, () => true);
  const untilGuarded = (status: 'True' | 'False') =>
    stage.until(HSMPool, { name: 'pico-pool' }, (pool) => findCondition(pool, 'ReportsGuarded')?.status === status);
  for (const name of ['reports', 'discovery-accounts']) {
    const key = { name: roleRef.name.replace(/discovery$/, name) };
    const setPolicy = (failurePolicy: string) =>
      admin.patch(ValidatingAdmissionPolicy, key, { type: 'merge', body: { spec: { failurePolicy } } });
    const setBinding = (action: string) =>
      admin.patch(ValidatingAdmissionPolicyBinding, key, {
        type: 'merge',
        body: { spec: { validationActions: [action] } },
      });
    await setPolicy('Ignore');
    await untilGuarded('False');
    await setPolicy('Fail');
    await untilGuarded('True');
    await setBinding('Warn');
    await untilGuarded('False');
    await setBinding('Deny');
    await untilGuarded('True');
  }
}

/** deliver delivers a secret of the device, and deletes it again. */
async function deliver(stage: Stage): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: 'database' };
  const agent = agents.add({ namespace, name: DEVICE }, SERIAL);
  await agent.write('database', { password: 'x' });
  await admin.create(HSMSecret, HSMSecret.withDefaults({ metadata: key, spec: {} }));
  await stage.until(Secret, key, ({ data }) => data?.password !== undefined);
  await stage.until(HSMSecret, key, ({ status }) => status?.syncStatus === 'InSync');
  await admin.delete(HSMSecret, key);
  await stage.untilGone(HSMSecret, key);
  await stage.untilGone(Secret, key);
}

export const hsmSecretsScenario: Scenario = {
  operator: hsmSecretsWith({ agents }),
  open: () => ({ config: { image: 'example.test/bowline:1' }, play }),
};
