import {
  ConfigMap,
  DaemonSet,
  Ingress,
  type KubernetesObject,
  keyOf,
  Pod,
  PodDisruptionBudget,
  type Resource,
  Secret,
  Service,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANNOTATIONS, MANAGER } from '../api/names.ts';
import { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import { SpireAgent } from '../api/spire-agent.ts';
import { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { SpireServer } from '../api/spire-server.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OIDC_SERVING_CERT } from '../oidc/oidc-input.ts';
import { AGENT, OIDC_PROVIDER, SERVER, WEBHOOK } from '../spire/names.ts';
import { OPERANDS, type ZtwimCluster, ztwimCluster } from '../testing/ztwim-cluster.test-support.ts';
import { CHILD_KINDS } from './child-kinds.test-support.ts';
import { start } from './deletion.test-support.ts';

/** The name of the Route or Ingress of the OIDC discovery provider. */
const EXPOSURE = 'spire-oidc-discovery-provider';

const LABEL = 'app.kubernetes.io/managed-by';

let c: ZtwimCluster;
const config = { createOnly: false };
beforeAll(async () => {
  c = await ztwimCluster({ config });
  await start(c, {}, { oidc: { replicaCount: 2, ingress: { className: 'any' } } });
  await c.until(Secret, inOperands(OIDC_SERVING_CERT), () => true);
});
afterAll(() => c[Symbol.asyncDispose]());

/** forEachKind calls `work` with the objects of one kind after the other, and with those of a kind at the same time. */
async function forEachKind(work: (kind: Resource<KubernetesObject>, object: KubernetesObject) => Promise<unknown>) {
  for (const kind of [...CHILD_KINDS, Ingress as Resource<KubernetesObject>, Secret as Resource<KubernetesObject>]) {
    const namespace = kind.scope === 'Namespaced' ? OPERANDS : undefined;
    const { items } = await c.admin.list(kind, { namespace, labelSelector: `${LABEL}=${MANAGER}` });
    expect(items, kind.kind).not.toEqual([]);
    await Promise.all(items.map((object) => work(kind, object)));
  }
}

const merge = (body: object) => ({ type: 'merge', body }) as const;

const inOperands = (name: string) => ({ namespace: OPERANDS, name });

describe('an object of an operand', () => {
  it('scenario 24 is created again if it is deleted, whatever its kind', async () => {
    await forEachKind(async (kind, object) => {
      await c.admin.delete(kind, keyOf(object));
      await c.until(kind, keyOf(object), ({ metadata }) => metadata?.uid !== object.metadata?.uid);
    });
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  });

  it('scenario 24 is repaired if it is edited, whatever its kind', async () => {
    const name = 'app.kubernetes.io/part-of';
    await forEachKind(async (kind, object) => {
      // The bundle is only created.
      if (object.metadata?.name === 'spire-bundle') return;
      await c.admin.patch(kind, keyOf(object), merge({ metadata: { labels: { [name]: 'edited' } } }));
      const { metadata } = await c.until(kind, keyOf(object), (each) => each.metadata?.labels?.[name] !== 'edited');
      expect(metadata?.labels).toEqual(object.metadata?.labels);
    });
  });

  it('scenario 24 keeps what others set: the CA of the webhooks, the address of a Service', async () => {
    const key = { name: WEBHOOK };
    const { webhooks = [] } = await c.admin.get(ValidatingWebhookConfiguration, key);
    const caBundle = Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64');
    const edited = webhooks.map((each) => ({
      ...each,
      failurePolicy: 'Fail',
      clientConfig: { ...each.clientConfig, caBundle },
    }));
    const before = await c.admin.get(Service, inOperands(SERVER));
    await c.admin.patch(ValidatingWebhookConfiguration, key, merge({ webhooks: edited }));
    const repaired = await c.until(ValidatingWebhookConfiguration, key, (each) =>
      (each.webhooks ?? []).every(({ failurePolicy }) => failurePolicy === 'Ignore'),
    );
    expect(repaired.webhooks?.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([caBundle, caBundle]);

    await c.admin.patch(
      Service,
      inOperands(SERVER),
      merge({ spec: { selector: { 'app.kubernetes.io/name': 'other' } } }),
    );
    const after = await c.until(
      Service,
      inOperands(SERVER),
      ({ spec }) => spec?.selector?.['app.kubernetes.io/name'] !== 'other',
    );
    expect([after.spec?.clusterIP, after.metadata?.uid]).toEqual([before.spec?.clusterIP, before.metadata?.uid]);
  });

  it('scenario 25 is not touched if it belongs to someone else, and adopted once it has our label', async () => {
    await c.stop();
    const key = inOperands(SERVER);
    await c.admin.delete(Service, key);
    const foreign = await c.admin.create(Service, { metadata: key, spec: { ports: [{ name: 'other', port: 1234 }] } });
    await c.restart();
    expect(await c.untilReason(SpireServer, 'ServiceAvailable', 'ResourceConflict')).toContain(`${LABEL}=${MANAGER}`);
    await c.untilReason(SpireServer, 'Ready', 'ResourceConflict');
    expect(await c.admin.get(Service, key)).toEqual(foreign);
    await c.admin.patch(Service, key, merge({ metadata: { labels: { [LABEL]: MANAGER } } }));
    await c.idle();
    await c.advanceTime(10_000);
    await c.untilReason(SpireServer, 'ServiceAvailable', 'Ready');
    const adopted = await c.admin.get(Service, key);
    expect(adopted.metadata?.uid).toBe(foreign.metadata?.uid);
    expect(adopted.metadata?.ownerReferences?.[0]?.kind).toBe('SpireServer');
    expect(adopted.spec?.ports?.map(({ port }) => port)).toContain(443);
  });

  it('scenario 27 gets its label back if the label is removed, and is not created twice', async () => {
    for (const [kind, name] of [
      [ConfigMap, AGENT],
      [ServiceAccount, AGENT],
      [Service, SERVER],
    ] as const) {
      const any = kind as Resource<KubernetesObject>;
      const { metadata } = await c.admin.get(any, inOperands(name));
      await c.admin.patch(any, inOperands(name), merge({ metadata: { labels: { [LABEL]: null } } }));
      const repaired = await c.until(any, inOperands(name), (each) => each.metadata?.labels?.[LABEL] === MANAGER);
      expect(repaired.metadata?.uid).toBe(metadata?.uid);
    }
  });

  it('scenario 27 is given up if it is a workload, which has no other mark, until the label is restored', async () => {
    const key = inOperands(AGENT);
    const { metadata } = await c.admin.get(DaemonSet, key);
    await c.admin.patch(DaemonSet, key, merge({ metadata: { labels: { [LABEL]: null } } }));
    await c.untilReason(SpireAgent, 'DaemonSetAvailable', 'ResourceConflict');
    await c.admin.patch(DaemonSet, key, merge({ metadata: { labels: { [LABEL]: MANAGER } } }));
    await c.untilReason(SpireAgent, 'Ready', 'Ready');
    expect((await c.admin.get(DaemonSet, key)).metadata?.uid).toBe(metadata?.uid);
  });
});

/** Workloads are changed at most twice a second. */
const PACE_MS = 500;

async function change(kind: Resource<KubernetesObject>, spec: object): Promise<void> {
  await c.clock.advance(PACE_MS);
  await c.changeSpec(kind, spec);
}

/** How often it is checked whether objects can be removed that could not be removed before. */
const RETRY_MS = 300_000;

/** An edit of a file that the operator would repair. */
const edit = merge({ data: { 'agent.conf': 'edited' } });

describe('an object that is only created', () => {
  it('scenario 26 keeps its content while it has the annotation', async () => {
    const key = inOperands(AGENT);
    await c.admin.patch(ConfigMap, key, merge({ metadata: { annotations: { [ANNOTATIONS.createOnly]: 'true' } } }));
    await c.idle();
    await c.admin.patch(ConfigMap, key, edit);
    await c.admin.patch(
      ServiceAccount,
      key,
      merge({ metadata: { labels: { 'app.kubernetes.io/part-of': 'edited' } } }),
    );
    await c.until(ServiceAccount, key, ({ metadata }) => metadata?.labels?.['app.kubernetes.io/part-of'] !== 'edited');
    await c.idle();
    expect((await c.admin.get(ConfigMap, key)).data).toEqual({ 'agent.conf': 'edited' });
    await c.admin.patch(ConfigMap, key, merge({ metadata: { annotations: { [ANNOTATIONS.createOnly]: null } } }));
    await c.until(ConfigMap, key, ({ data }) => data?.['agent.conf'] !== 'edited');
  });

  it('scenario 26 keeps its content while the setting is on, and is repaired when it is off again', async () => {
    const key = inOperands(AGENT);
    config.createOnly = true;
    await c.restart();
    await c.untilReason(SpireAgent, 'CreateOnlyMode', 'CreateOnlyModeEnabled');
    await c.admin.patch(ConfigMap, key, edit);
    await c.admin.delete(ServiceAccount, key);
    await c.until(ServiceAccount, key, () => true);
    await c.untilReason(SpireAgent, 'Ready', 'Ready');
    await change(SpireOIDCDiscoveryProvider, { replicaCount: 1 });
    await c.idle();
    expect((await c.admin.get(ConfigMap, key)).data).toEqual({ 'agent.conf': 'edited' });
    expect(await c.admin.find(PodDisruptionBudget, inOperands(OIDC_PROVIDER))).toBeDefined();
    config.createOnly = false;
    await c.restart();
    await c.untilReason(SpireAgent, 'CreateOnlyMode', 'CreateOnlyModeDisabled');
    await c.until(ConfigMap, key, ({ data }) => data?.['agent.conf'] !== 'edited');
    await c.untilReason(SpireAgent, 'Ready', 'Ready');
  });
});

describe('an object that is no longer rendered', () => {
  it('scenario 24 is removed, but not a copy of it that someone else created', async () => {
    const [ingress, certificate] = [inOperands(EXPOSURE), inOperands(OIDC_SERVING_CERT)];
    const budget = inOperands(OIDC_PROVIDER);
    await change(SpireOIDCDiscoveryProvider, { replicaCount: 2 });
    const { metadata } = await c.until(PodDisruptionBudget, budget, () => true);
    const copy = { namespace: OPERANDS, name: 'copy', labels: metadata?.labels };
    await c.admin.create(PodDisruptionBudget, { metadata: copy, spec: { maxUnavailable: 1 } });
    await change(SpireOIDCDiscoveryProvider, { replicaCount: 1, ingress: { className: 'any' } });
    await c.until(Ingress, ingress, () => true);
    await c.untilGone(PodDisruptionBudget, budget);

    const { data } = await c.admin.get(Secret, certificate);
    await c.admin.create(Secret, { metadata: inOperands('own-certificate'), data });
    await change(SpireOIDCDiscoveryProvider, { ingress: null, tls: { secretName: 'own-certificate' } });
    await c.untilGone(Ingress, ingress);
    await c.untilGone(Secret, certificate);
    expect(await c.admin.find(Secret, inOperands('own-certificate'))).toBeDefined();
    expect(await c.admin.find(PodDisruptionBudget, copy)).toBeDefined();

    await change(SpireOIDCDiscoveryProvider, { tls: null });
    await c.until(Secret, certificate, () => true);
    await c.untilReason(SpireOIDCDiscoveryProvider, 'Ready', 'Ready');
    // The bundle is not rendered either.
    expect(await c.admin.find(ConfigMap, inOperands('spire-bundle'))).toBeDefined();
  });

  it('scenario 24 is removed only once no pod uses it, if it is a CSIDriver', async () => {
    const volumes = [{ name: 'spiffe', csi: { driver: 'csi.spiffe.io', readOnly: true } }];
    const pod = { namespace: c.namespace, name: 'workload' };
    await c.admin.create(Pod, { metadata: pod, spec: { containers: [{ name: 'a', image: 'a' }], volumes } });
    await change(SpiffeCSIDriver, { pluginName: 'csi.example.io' });
    await change(SpireOIDCDiscoveryProvider, { csiDriverName: 'csi.example.io' });
    await c.until(CSIDriver, { name: 'csi.example.io' }, () => true);
    await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
    await c.idle();
    await c.advanceTime(RETRY_MS, RETRY_MS);
    expect(await c.admin.find(CSIDriver, { name: 'csi.spiffe.io' })).toBeDefined();
    await c.admin.delete(Pod, pod);
    await c.untilGone(Pod, pod);
    await c.advanceTime(RETRY_MS, RETRY_MS);
    await c.untilGone(CSIDriver, { name: 'csi.spiffe.io' });
  });
});
