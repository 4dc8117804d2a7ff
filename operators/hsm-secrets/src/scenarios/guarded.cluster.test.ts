import {
  type ObjectMeta,
  Pod,
  RoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import { LABELS, REPORT_ANNOTATION } from '../api/names.ts';
import { devicesIn, type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';

let c: HsmCluster;
let pod: Pod;
let reports: { readonly name: string };
let accounts: { readonly name: string };

beforeAll(async () => {
  c = await hsmCluster({ nodes: 1 });
  await c.createDevice('pico');
  pod = await c.discoveryPod('pico', c.nodes[0] ?? '');
  await c.report(pod, ['1']);
  await c.untilPool('pico', ({ phase }) => phase === 'Ready');
  const { roleRef } = await c.admin.get(RoleBinding, { namespace: c.namespace, name: 'pico-discovery' });
  const install = roleRef.name.replace(/-discovery$/, '');
  [reports, accounts] = [{ name: `${install}-reports` }, { name: `${install}-discovery-accounts` }];
});
afterAll(() => c[Symbol.asyncDispose]());

const untilGuard = (reason: string): Promise<HSMPool> =>
  c.untilPool('pico', (_, pool) => findCondition(pool, 'ReportsGuarded')?.reason === reason);

/** An object as it is created again. */
function recreated<T extends { readonly metadata?: ObjectMeta | undefined }>(object: T): T {
  const { name, labels = {} } = object.metadata ?? {};
  return { ...object, metadata: { name, labels }, status: undefined };
}

/** What the pool shows although reports are not guarded. */
function expectReported(pool: HSMPool, message: string): void {
  expect(findCondition(pool, 'ReportsGuarded')).toMatchObject({ status: 'False' });
  expect(findCondition(pool, 'ReportsGuarded')?.message).toContain(message);
  expect(pool.status).toMatchObject({ phase: 'Ready', availableDevices: 1 });
}

it('scenario 28 reports a missing policy, and shows the reports', async () => {
  for (const key of [reports, accounts]) {
    const policy = await c.admin.get(ValidatingAdmissionPolicy, key);
    await c.admin.delete(ValidatingAdmissionPolicy, key);
    expectReported(await untilGuard('PolicyMissing'), key.name);
    await c.admin.create(ValidatingAdmissionPolicy, recreated(policy));
    await untilGuard('Guarded');
  }
});

it('scenario 28 reports a policy that ignores failures', async () => {
  const failurePolicy = (value: string) => ({ type: 'merge', body: { spec: { failurePolicy: value } } }) as const;
  await c.admin.patch(ValidatingAdmissionPolicy, reports, failurePolicy('Ignore'));
  expectReported(await untilGuard('PolicyMissing'), reports.name);
  await c.admin.patch(ValidatingAdmissionPolicy, reports, failurePolicy('Fail'));
  await untilGuard('Guarded');
});

it('scenario 28 reports a policy that checks less', async () => {
  const { spec } = await c.admin.get(ValidatingAdmissionPolicy, accounts);
  const change = (validations: unknown) => ({ type: 'merge', body: { spec: { validations } } }) as const;
  await c.admin.patch(ValidatingAdmissionPolicy, accounts, change([{ expression: 'true' }]));
  expectReported(await untilGuard('PolicyMissing'), accounts.name);
  await c.admin.patch(ValidatingAdmissionPolicy, accounts, change(spec?.validations));
  await untilGuard('Guarded');
});

it('scenario 28 reports a missing binding', async () => {
  for (const key of [reports, accounts]) {
    const binding = await c.admin.get(ValidatingAdmissionPolicyBinding, key);
    await c.admin.delete(ValidatingAdmissionPolicyBinding, key);
    expectReported(await untilGuard('BindingMissing'), key.name);
    await c.admin.create(ValidatingAdmissionPolicyBinding, recreated(binding));
    await untilGuard('Guarded');
  }
});

it('scenario 28 reports a binding that does not deny', async () => {
  const actions = (validationActions: readonly string[]) =>
    ({ type: 'merge', body: { spec: { validationActions } } }) as const;
  await c.admin.patch(ValidatingAdmissionPolicyBinding, accounts, actions(['Audit']));
  expectReported(await untilGuard('BindingMissing'), accounts.name);
  await c.admin.patch(ValidatingAdmissionPolicyBinding, accounts, actions(['Deny', 'Audit']));
  await untilGuard('Guarded');
});

it('scenario 28 reports an unguarded pool after a restart of the manager too', async () => {
  const binding = await c.admin.get(ValidatingAdmissionPolicyBinding, reports);
  await c.stop();
  await c.admin.delete(ValidatingAdmissionPolicyBinding, reports);
  await c.restart();
  expectReported(await untilGuard('BindingMissing'), reports.name);
  await c.admin.create(ValidatingAdmissionPolicyBinding, recreated(binding));
  await untilGuard('Guarded');
});

it('scenario 38 the manager refuses false reports without the policies', async () => {
  const { namespace, admin } = c;
  for (const key of [reports, accounts]) await admin.delete(ValidatingAdmissionPolicyBinding, key);
  await untilGuard('BindingMissing');
  const podRules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'patch'] }];
  const { client: forger } = await c.serviceAccount({ rules: podRules });
  const { uid = '' } = (await admin.get(HSMDevice, { namespace, name: 'pico' })).metadata ?? {};
  const owner = { apiVersion: 'hsm.j5t.io/v1alpha1', kind: 'HSMDevice', name: 'pico', uid };
  const name = pod.metadata?.name ?? '';
  const node = c.nodes[0] ?? '';
  const forged = (members: object): string => {
    const now = new Date(c.clock.now()).toISOString();
    const device = { devicePath: '/dev/bus/usb/001/001', serialNumber: 'FORGED' };
    return JSON.stringify({
      ...{ hsmDeviceName: 'pico', reportingNode: node, discoveredDevices: [device] },
      ...{ lastReportTime: now, discoveryStatus: 'completed', ...members },
    });
  };
  const foreignDevice = { devicePath: '/dev/a', serialNumber: 'FORGED', nodeName: 'other' };
  const attempts: readonly [string, () => Promise<unknown>][] = [
    [`${name}: reportingNode is other`, () => write(forger, name, forged({ reportingNode: 'other' }))],
    [`${name}: hsmDeviceName is other`, () => write(forger, name, forged({ hsmDeviceName: 'other' }))],
    [
      `${name}: a device is on the node other`,
      () => write(forger, name, forged({ discoveredDevices: [foreignDevice] })),
    ],
    [
      'forged: the pod does not belong to the DaemonSet',
      () =>
        forger.create(Pod, {
          metadata: {
            ...{ namespace, name: 'forged' },
            labels: { [LABELS.component]: 'discovery', 'hsm.j5t.io/device': 'pico' },
            annotations: { [REPORT_ANNOTATION]: forged({}) },
            // Else the DaemonSet would adopt it.
            ownerReferences: [{ ...owner, controller: true }],
          },
          spec: { nodeName: node, containers: [{ name: 'a', image: 'example.test/a:1' }] },
        }),
    ],
  ];
  for (const [problem, attempt] of attempts) {
    // The API server notices only after a moment that no policy refuses the request.
    await vi.waitFor(attempt, { timeout: 20_000, interval: 50 });
    const pool = await c.untilPool('pico', (_, each) => {
      return findCondition(each, 'ReportsValid')?.message.includes(problem) ?? false;
    });
    expect(devicesIn(pool)).toEqual([['1', node, true, 'Healthy']]);
  }
});

const write = (client: Client, name: string, text: string): Promise<Pod> =>
  client.patch(
    Pod,
    { namespace: c.namespace, name },
    { type: 'merge', body: { metadata: { annotations: { [REPORT_ANNOTATION]: text } } } },
  );
