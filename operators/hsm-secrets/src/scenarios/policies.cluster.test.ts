import {
  Deployment,
  Pod,
  type PodSpec,
  type PolicyRule,
  type Resource,
  Role,
  RoleBinding,
  ValidatingAdmissionPolicy,
} from '@bowline/kubernetes';
import { Binding } from '@bowline/kubernetes/core-v1';
import type { Client } from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { REPORT_ANNOTATION } from '../api/names.ts';
import { type HsmCluster, hsmCluster } from '../testing/hsm-cluster.test-support.ts';

const REMEDY = 'grant them the verb report on hsmpools.hsm.j5t.io in this namespace';
const OTHER_POD = 'a discovery pod may change only itself';
const OTHER_FIELD = `a discovery pod may change only its annotation ${REPORT_ANNOTATION}`;
const TOO_LONG = 'may have at most 65536 characters; report fewer devices';

/** Everything that a user needs to change pods in every way. */
const podRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'update', 'patch', 'delete'] },
  {
    apiGroups: [''],
    resources: ['pods/status', 'pods/binding', 'bindings', 'pods/ephemeralcontainers'],
    verbs: ['get', 'create', 'update', 'patch'],
  },
];

let c: HsmCluster;
/** Two pods of one HSMDevice, and one of another. */
let [own, sibling, other]: Pod[] = [];
/** May change pods in every way, but not reports. */
let writer: Client;
/** Has the verb `report` too. */
let scanner: Client;

beforeAll(async () => {
  c = await hsmCluster();
  const [first = '', second = ''] = c.nodes;
  await c.createDevice('pico');
  await c.createDevice('other');
  own = await c.discoveryPod('pico', first);
  sibling = await c.discoveryPod('pico', second);
  other = await c.discoveryPod('other', first);
  writer = (await c.serviceAccount({ rules: podRules })).client;
  const report: PolicyRule = { apiGroups: ['hsm.j5t.io'], resources: ['hsmpools'], verbs: ['report'] };
  scanner = (await c.serviceAccount({ rules: [...podRules, report] })).client;
  for (const pod of [own, sibling, other]) await c.report(pod, ['1']);
  // The API server may honour the roles only after a moment.
  for (const client of [writer, scanner]) {
    await vi.waitFor(() => client.patch(Pod, keyOf(own), merge({}), { dryRun: true }), { timeout: 20_000 });
  }
});
afterAll(() => c[Symbol.asyncDispose]());

const keyOf = (pod: Pod | undefined) => ({ namespace: c.namespace, name: pod?.metadata?.name ?? '' });
const merge = (body: object) => ({ type: 'merge', body }) as const;
const withReport = (text: string | null) => ({ metadata: { annotations: { [REPORT_ANNOTATION]: text } } });
const storedReport = async (key: { readonly name: string }): Promise<string | undefined> =>
  (await c.admin.get(Pod, { namespace: c.namespace, ...key })).metadata?.annotations?.[REPORT_ANNOTATION];

/** Expects a request to be refused by a policy, with a message that explains what is allowed. */
async function refused(request: Promise<unknown>, message: string | RegExp): Promise<void> {
  const error: unknown = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ status: 403, message: expect.stringContaining('denied request') });
  expect(String(error)).toMatch(message);
}

const containers = [{ name: 'main', image: 'example.test/main:1' }];
/** No scheduler binds such a pod. */
const unscheduled: PodSpec = { schedulerName: 'example.test/none', containers };

async function createPod(name: string, metadata: object = {}, spec: PodSpec = unscheduled): Promise<Pod> {
  return await c.admin.create(Pod, { metadata: { namespace: c.namespace, name, ...metadata }, spec });
}

/** The kind that the path pods/binding takes. */
const PodBinding: Resource<Binding> = { ...Pod, kind: 'Binding' } as unknown as Resource<Binding>;

const bindingOf = (name: string, node: string, annotations: Readonly<Record<string, string>>): Binding => ({
  metadata: { namespace: c.namespace, name, annotations },
  target: { kind: 'Node', name: node },
});

describe('a discovery pod', () => {
  it('scenario 38 may write its own report', async () => {
    const client = await c.clientOf(own as Pod);
    await client.patch(Pod, keyOf(own), merge(withReport('{"a":1}')));
    expect(await storedReport(keyOf(own))).toBe('{"a":1}');
    await client.patch(Pod, keyOf(own), merge(withReport('x'.repeat(65_536))));
  });

  it('scenario 38 may not write a report of 65,537 characters', async () => {
    const client = await c.clientOf(own as Pod);
    await refused(client.patch(Pod, keyOf(own), merge(withReport('x'.repeat(65_537)))), TOO_LONG);
  });

  it.each<readonly [string, object]>([
    ['labels', { metadata: { labels: { a: 'b' } } }],
    ['own labels by removing one', { metadata: { labels: { 'hsm.j5t.io/device': null } } }],
    ['other annotations', { metadata: { annotations: { a: 'b' } } }],
    ['finalizers', { metadata: { finalizers: ['example.test/a'] } }],
    ['spec', { spec: { activeDeadlineSeconds: 60 } }],
    ['labels together with its report', { metadata: { ...withReport('{}').metadata, labels: { a: 'b' } } }],
  ])('scenario 38 may not change its %s', async (_, body) => {
    const client = await c.clientOf(own as Pod);
    await refused(client.patch(Pod, keyOf(own), merge(body)), OTHER_FIELD);
  });

  it('scenario 38 may not change its ownerReferences, even if its account may delete pods', async () => {
    const metadata = { namespace: c.namespace, name: 'delete-pods' };
    await c.admin.create(Role, { metadata, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['delete'] }] });
    await c.admin.create(RoleBinding, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', namespace: c.namespace, name: 'pico-discovery' }],
    });
    const client = await c.clientOf(own as Pod);
    const body = { metadata: { ownerReferences: null } };
    // Until the API server honours the role, it refuses the request before the policy does.
    await vi.waitFor(() => refused(client.patch(Pod, keyOf(own), merge(body)), OTHER_FIELD), { timeout: 20_000 });
    await c.admin.delete(RoleBinding, metadata);
  });

  it('scenario 38 may not remove an annotation of others', async () => {
    await c.admin.patch(Pod, keyOf(own), merge({ metadata: { annotations: { 'example.test/note': 'a' } } }));
    const client = await c.clientOf(own as Pod);
    const body = { metadata: { annotations: { 'example.test/note': null } } };
    await refused(client.patch(Pod, keyOf(own), merge(body)), OTHER_FIELD);
  });

  it.each<readonly [string, () => Promise<Client>]>([
    ['a pod of the same account', () => c.clientOf(sibling as Pod)],
    ['a pod of another account', () => c.clientOf(other as Pod)],
    [
      'its account, with a token that is bound to no pod',
      () => c.clientFor({ serviceAccount: { namespace: c.namespace, name: 'pico-discovery' } }),
    ],
  ])('scenario 38 is not changed by %s', async (_, connect) => {
    const client = await connect();
    for (const body of [withReport('{}'), withReport(null)])
      await refused(client.patch(Pod, keyOf(own), merge(body)), new RegExp(`${REMEDY}|${OTHER_POD}`));
    await refused(client.patch(Pod, keyOf(own), merge({ metadata: { labels: { a: 'b' } } })), OTHER_POD);
  });

  it('scenario 38 may not create a pod by applying it', async () => {
    const client = await c.clientOf(own as Pod);
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'applied' }, spec: unscheduled };
    const applied = client.patch(
      Pod,
      { namespace: c.namespace, name: 'applied' },
      { type: 'apply', body },
      { fieldManager: 'test' },
    );
    await expect(applied).rejects.toMatchObject({ status: 403 });
  });
});

describe('a user who may change pods, but has not the verb report', () => {
  it('scenario 38 can neither change nor remove a report', async () => {
    for (const text of ['{}', null, '']) await refused(writer.patch(Pod, keyOf(own), merge(withReport(text))), REMEDY);
    await writer.patch(Pod, keyOf(own), merge({ metadata: { labels: { 'example.test/changed': 'yes' } } }));
  });

  it('scenario 38 cannot create a pod with a report', async () => {
    const metadata = { namespace: c.namespace, name: 'born', ...withReport('{}').metadata };
    await refused(writer.create(Pod, { metadata: metadata as object, spec: unscheduled }), REMEDY);
  });

  it('scenario 38 cannot set a report with the status of a pod', async () => {
    const body = { ...withReport('{}'), status: { message: 'a' } };
    await refused(writer.patch(Pod, keyOf(own), merge(body), { subresource: 'status' }), REMEDY);
  });

  it('scenario 38 cannot set a report with the binding of a pod', async () => {
    const pod = await createPod('bound');
    const binding = bindingOf('bound', c.nodes[0] ?? '', { [REPORT_ANNOTATION]: '{}' });
    await refused(writer.create(PodBinding, binding, { subresource: 'binding' }), REMEDY);
    const legacy = writer.create(Binding, binding);
    // The embedded API server does not serve this path.
    if (c.controlPlane.kind === 'embedded') await expect(legacy).rejects.toMatchObject({ status: 404 });
    else await refused(legacy, REMEDY);
    expect(await storedReport(keyOf(pod))).toBeUndefined();
    await writer.create(PodBinding, bindingOf('bound', c.nodes[0] ?? '', {}), { subresource: 'binding' });
    await c.until(Pod, keyOf(pod), ({ spec }) => spec?.nodeName === c.nodes[0]);
  });

  it('scenario 38 cannot set a report with ephemeral containers, whose requests change no annotation', async ({
    skip,
  }) => {
    skip(c.controlPlane.kind === 'embedded', 'the embedded API server does not serve ephemeral containers');
    const pod = await createPod('debugged');
    const ephemeralContainers = [{ name: 'debug', image: 'example.test/debug:1' }];
    const body = { ...withReport('{}'), spec: { ephemeralContainers } };
    await writer.patch(Pod, keyOf(pod), { type: 'strategic', body }, { subresource: 'ephemeralcontainers' });
    const { metadata, spec } = await c.admin.get(Pod, keyOf(pod));
    expect([metadata?.annotations?.[REPORT_ANNOTATION], spec?.ephemeralContainers?.length]).toEqual([undefined, 1]);
  });

  it('scenario 38 cannot create a pod with a report through a Deployment', async ({ skip }) => {
    skip(c.controlPlane.kind === 'embedded', 'the embedded controllers may do everything, also report');
    const labels = { app: 'templated' };
    const template = { metadata: { labels, ...withReport('{}').metadata } as object, spec: { containers } };
    const key = { namespace: c.namespace, name: 'templated' };
    await c.admin.create(Deployment, { metadata: key, spec: { selector: { matchLabels: labels }, template } });
    const failure = ({ status }: Deployment) => status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
    const deployment = await c.until(Deployment, key, (each) => failure(each) !== undefined);
    expect(failure(deployment)?.message).toContain(REMEDY);
    await c.admin.delete(Deployment, key);
  });
});

describe('a user with the verb report', () => {
  it('scenario 38 may change, remove and create reports', async () => {
    await scanner.patch(Pod, keyOf(sibling), merge(withReport('{"by":"hand"}')));
    expect(await storedReport(keyOf(sibling))).toBe('{"by":"hand"}');
    await scanner.patch(Pod, keyOf(sibling), merge(withReport(null)));
    await scanner.patch(Pod, keyOf(sibling), merge(withReport('{}')), { subresource: 'status' });
    expect(await storedReport(keyOf(sibling))).toBe('{}');
    const metadata = { namespace: c.namespace, name: 'scanned', ...withReport('{}').metadata };
    await scanner.create(Pod, { metadata: metadata as object, spec: unscheduled });
  });

  it('scenario 38 may not write a report of 65,537 characters', async () => {
    await refused(scanner.patch(Pod, keyOf(sibling), merge(withReport('x'.repeat(65_537)))), TOO_LONG);
  });
});

describe('the policies', () => {
  it.each<readonly [string, object, PodSpec]>([
    ['plain', {}, unscheduled],
    ['empty-metadata', { annotations: {}, labels: {}, finalizers: [], ownerReferences: [] }, unscheduled],
    ['annotated', { annotations: { a: 'b' }, labels: { a: 'b' }, finalizers: ['example.test/a'] }, unscheduled],
    ['empty-report', { annotations: { [REPORT_ANNOTATION]: '' } }, unscheduled],
    ['no-token', {}, { ...unscheduled, automountServiceAccountToken: false }],
    ['host-network', {}, { ...unscheduled, hostNetwork: true, restartPolicy: 'Never' }],
  ])('scenario 38 do not affect pods without a report: %s', async (name, metadata, spec) => {
    const key = { namespace: c.namespace, name };
    await writer.create(Pod, { metadata: { ...key, ...metadata }, spec });
    await writer.patch(Pod, key, merge({ metadata: { annotations: { c: 'd' }, labels: { c: 'd' } } }));
    await writer.patch(Pod, key, merge({ spec: { activeDeadlineSeconds: 600 } }));
    await writer.patch(Pod, key, merge({ status: { phase: 'Running' } }), { subresource: 'status' });
    const read = await writer.get(Pod, key);
    await writer.update(Pod, { ...read, metadata: { ...read.metadata, annotations: {}, finalizers: [] } });
    await writer.delete(Pod, key, { gracePeriodSeconds: 0 });
    await c.untilGone(Pod, key);
  });

  it('scenario 38 have no type check warnings', async () => {
    const { roleRef } = await c.admin.get(RoleBinding, { namespace: c.namespace, name: 'pico-discovery' });
    const install = roleRef.name.replace(/-discovery$/, '');
    for (const name of [`${install}-reports`, `${install}-discovery-accounts`]) {
      const { status } = await c.until(ValidatingAdmissionPolicy, { name }, ({ status, metadata }) => {
        return status?.observedGeneration === metadata?.generation;
      });
      expect([name, status?.typeChecking?.expressionWarnings ?? []]).toEqual([name, []]);
    }
  });
});
