import { type Cluster, cluster } from '@bowline/control-plane/testing';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  type KubernetesObject,
  keyOf,
  Lease,
  MutatingWebhookConfiguration,
  Namespace,
  type ObjectKey,
  type Resource,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { s } from '@bowline/machinery/schema';
import { expect, it, vi } from 'vitest';
import type { Client } from '../client/client.ts';
import { controller } from '../controller/builder.ts';
import { isAlreadyExists } from '../errors/api-error.ts';
import { Manager } from '../manager/manager.ts';
import type { WebhookServing } from '../manager/manager-options.ts';
import { defineOperator } from '../operator/operator.ts';
import { rbacManifests } from '../operator/rbac-manifests.ts';
import { allow, OWN_NAMESPACE } from '../permissions/permission.ts';
import { defineResource } from '../resource/define-resource.ts';
import { installCustomResourceDefinitions } from '../resource/install-crds.ts';
import { admit } from '../webhook/admission-response.ts';
import { mutating, validating } from '../webhook/declare.ts';
import { findCondition } from '../writing/conditions.ts';
import { fieldManagerOf, operatorIdentity } from './operator-identity.ts';

/**
 * An operator as a third party would write it, using every feature with which the runtime leaves names in a cluster.
 */
const DOMAIN = 'platform.example.org';
const SYSTEM = 'platform-example-system';
const Page = defineResource({
  group: `pages.${DOMAIN}`,
  version: 'v1',
  kind: 'Page',
  scope: 'Namespaced',
  spec: s.object({ text: s.string() }),
  status: s.object({}),
});

const pageController = controller(Page)
  .owns(ConfigMap)
  .applies(ConfigMap)
  .reconcile(async ({ object, key, apply, live, event }) => {
    await apply(ConfigMap, { metadata: key, data: { text: object.spec.text } });
    // Without a field manager: the operator's own is the default.
    await live.create(Secret, { metadata: { ...key, name: `${key.name}-once` } }).catch(ignoreExisting);
    event('Normal', 'Written', 'the page is written');
  })
  .cleanup(({ object }) => (object.metadata?.labels?.hold ? { requeueAfterMs: 3_600_000 } : undefined));

const operator = defineOperator({
  name: 'pages',
  domain: DOMAIN,
  resources: [Page],
  setup: ({ client, namespace }) => ({ client, namespace }),
  controllers: [pageController],
  webhooks: [
    validating(Page, { name: 'check', operations: ['CREATE'], failurePolicy: 'Fail' }).handle(() => admit()),
    mutating(Page, { name: 'fill', operations: ['CREATE'] }).handle(() => admit()),
  ],
  services: [
    {
      name: 'note',
      leaderOnly: true,
      run: async (_, { client, namespace }) => {
        await client.create(ConfigMap, { metadata: { namespace, name: 'note' } }).catch(ignoreExisting);
      },
    },
  ],
  permissions: [allow(['create'], Secret), allow(['create'], ConfigMap, { namespaces: [OWN_NAMESPACE] })],
});

const KINDS: Readonly<Record<string, Resource<KubernetesObject>>> = {
  ServiceAccount,
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
};

/** What a person does is done with kubectl, whose name is in managedFields too. */
const BY_HAND = { fieldManager: 'kubectl' } as const;

it('writes no bowline name to a cluster for an operator with another domain', async () => {
  await using c = await cluster({ prefix: 'pages' });
  await using running = await install(c);
  const key = { namespace: c.namespace, name: 'home' };
  await createPage(c, 'home');
  await c.until(Page, key, (page) => findCondition(page, 'Ready')?.status === 'True');
  await c.untilList(Event, {}, (events) => events.some(({ reason }) => reason === 'Written'));
  await c.until(ConfigMap, { namespace: SYSTEM, name: 'note' }, () => true);

  // A deletion that orphans is recorded on the object.
  await c.admin.delete(Page, key, { propagationPolicy: 'Orphan' });
  await c.until(Page, key, ({ metadata }) => metadata?.annotations?.[`${DOMAIN}/deletion`] === 'orphan');

  const identity = operatorIdentity(operator);
  const written = await writtenObjects(c, running.account);
  expect(new Set(written.map(({ kind }) => kind))).toEqual(
    new Set([
      'ConfigMap',
      'Event',
      'Lease',
      'MutatingWebhookConfiguration',
      'Page',
      'Secret',
      'ValidatingWebhookConfiguration',
    ]),
  );
  const installed = await Promise.all(running.installed.map(([kind, name]) => c.admin.get(kind, name)));
  for (const object of [...written, ...installed]) expect(readable(object)).not.toMatch(/bowline/i);

  const managers = new Set(written.flatMap(({ metadata }) => metadata?.managedFields?.map(({ manager }) => manager)));
  const own = [...managers].filter((manager) => manager?.startsWith('platform-example'));
  const { operator: itself, webhooks: webhookManager, leaderElection } = identity.fieldManagers;
  expect(own.sort()).toEqual([itself, fieldManagerOf(operator, 'page'), webhookManager, leaderElection].sort());
  const page = await c.admin.get(Page, key);
  expect(page.metadata?.finalizers).toContain(`pages.${DOMAIN}/finalizer`);
  const { webhooks = [] } = await c.admin.get(ValidatingWebhookConfiguration, { name: 'platform-example-pages' });
  expect(webhooks.map(({ name }) => name)).toEqual([`check.pages.${DOMAIN}`]);

  await c.admin.patch(Page, key, { type: 'merge', body: { metadata: { labels: { hold: null } } } }, BY_HAND);
  await c.untilGone(Page, key);
});

it('pauses objects by an annotation of the operator’s domain', async () => {
  await using c = await cluster({ prefix: 'pages' });
  await using _ = await install(c);
  const paused = { annotations: { [`${DOMAIN}/paused`]: 'true' } };
  await createPage(c, 'paused', paused);
  await createPage(c, 'going', { annotations: { 'bowline.dev/paused': 'true' } });
  await c.until(ConfigMap, { name: 'going' }, () => true);
  expect(await c.admin.find(ConfigMap, { namespace: c.namespace, name: 'paused' })).toBeUndefined();
  const body = { metadata: { annotations: { [`${DOMAIN}/paused`]: null } } };
  await c.admin.patch(Page, { namespace: c.namespace, name: 'paused' }, { type: 'merge', body }, BY_HAND);
  await c.until(ConfigMap, { name: 'paused' }, () => true);
});

function createPage(c: Cluster, name: string, metadata: object = {}): Promise<unknown> {
  const page = {
    metadata: { namespace: c.namespace, name, labels: { hold: 'yes' }, ...metadata },
    spec: { text: 'hi' },
  };
  // The API server notices only a moment later that a webhook is served.
  return vi.waitFor(() => c.admin.create(Page, page, BY_HAND), { timeout: 20_000, interval: 50 });
}

/**
 * install does what an administrator does, and runs the operator with its account in its usual namespace until it is
 * disposed of.
 */
async function install(c: Cluster) {
  const identity = operatorIdentity(operator);
  const installed: [Resource<KubernetesObject>, ObjectKey][] = [];
  const create = async (kind: Resource<KubernetesObject>, object: KubernetesObject): Promise<void> => {
    await c.admin.create(kind, object, BY_HAND);
    installed.push([kind, keyOf(object)]);
    c.onDispose(() => c.admin.delete(kind, keyOf(object)));
  };
  await c.admin.create(Namespace, { metadata: { name: identity.systemNamespace } }, BY_HAND);
  c.onDispose(async () => {
    await c.admin.delete(Namespace, { name: identity.systemNamespace });
    await c.untilGone(Namespace, { name: identity.systemNamespace });
  });
  await installCustomResourceDefinitions(c.admin, operator.resources, { fieldManager: identity.fieldManagers.crds });
  installed.push([CustomResourceDefinition, { name: `pages.pages.${DOMAIN}` }]);
  const serving: WebhookServing = { address: '127.0.0.1:0', reachedAt: 'loopback', configurations: 'runtime' };
  for (const manifest of rbacManifests(operator, { namespace: identity.systemNamespace, webhooks: serving })) {
    const kind = KINDS[manifest.kind ?? ''];
    if (!kind) throw new TypeError(`an RBAC manifest of kind ${manifest.kind} is not known`);
    await create(kind, manifest);
  }
  for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration] as const) {
    c.onDispose(() => c.admin.delete(kind, { name: identity.objectName }));
  }
  const account = { namespace: identity.systemNamespace, name: identity.objectName };
  const client: Client = await c.clientFor({ serviceAccount: account });
  const end = new AbortController();
  const manager = new Manager({
    operators: [operator],
    clientFor: () => client,
    webhooksFor: () => serving,
    leaderElection: { identity: 'replica-1' },
    healthAddress: '0',
    metricsAddress: '0',
  });
  const run = manager.run(end.signal);
  await c.until(Lease, account, ({ spec }) => spec?.holderIdentity === 'replica-1');
  return {
    account: `system:serviceaccount:${account.namespace}:${account.name}`,
    installed,
    async [Symbol.asyncDispose]() {
      end.abort();
      await run;
      for (const { metadata } of (await c.admin.list(Page)).items) {
        const name = { namespace: metadata?.namespace, name: metadata?.name ?? '' };
        await c.admin.patch(Page, name, { type: 'merge', body: { metadata: { finalizers: null } } });
      }
    },
  };
}

const WRITTEN: Readonly<Record<string, Resource<KubernetesObject>>> = {
  configmaps: ConfigMap,
  events: Event,
  leases: Lease,
  mutatingwebhookconfigurations: MutatingWebhookConfiguration,
  pages: Page,
  secrets: Secret,
  validatingwebhookconfigurations: ValidatingWebhookConfiguration,
};

/**
 * writtenObjects returns the objects that an account has written, according to the audit log, as they are stored now.
 */
async function writtenObjects(c: Cluster, account: string): Promise<readonly KubernetesObject[]> {
  const found = new Map<string, KubernetesObject>();
  for (const { user, verb, objectRef, responseStatus } of await c.controlPlane.audit()) {
    if (user.username !== account || !['create', 'update', 'patch'].includes(verb)) continue;
    if ((responseStatus?.code ?? 500) >= 300 || objectRef?.resource?.endsWith('accessreviews')) continue;
    const kind = WRITTEN[objectRef?.resource ?? ''];
    if (!kind || !objectRef?.name) throw new TypeError(`a write of ${JSON.stringify(objectRef)} is not expected`);
    const key = { namespace: objectRef.namespace, name: objectRef.name };
    const object = await c.admin.find(kind, key);
    if (object) found.set(`${objectRef.resource} ${key.namespace}/${key.name}`, object);
  }
  return [...found.values()];
}

/** readable returns all text of an object, including that of its encoded certificates. */
function readable(object: KubernetesObject): string {
  const text = JSON.stringify(object);
  const decoded = (text.match(/"[A-Za-z0-9+/]{40,}={0,2}"/g) ?? []).map((each) =>
    Buffer.from(each, 'base64').toString(),
  );
  const bodies = decoded.flatMap((pem) => pem.match(/-{5}BEGIN CERTIFICATE-{5}[^-]+/g) ?? []);
  const certificates = bodies.map((pem) => Buffer.from(pem.split('\n').slice(1).join(''), 'base64').toString('latin1'));
  return [text, ...decoded, ...certificates].join('\n');
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
