import { type Cluster, cluster, type RunningOperators } from '@bowline/control-plane/testing';
import {
  ConfigMap,
  keyOf,
  Namespace,
  type PolicyRule,
  Role,
  RoleBinding,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { findCondition } from '@bowline/runtime';
import { type Client, isForbidden, isNotFound } from '@bowline/runtime/client';
import type { WrittenOf } from '@bowline/runtime/resource';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { REQUESTS } from '../api/names.ts';
import { configMapSync } from '../operator.ts';

// Mallory may do everything with ConfigMaps and ConfigMapSyncs in her own namespaces, and read one shared ConfigMap.
// Every test is an attempt to get further through the operator, which may read and write everywhere.

const everything = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const configMaps: PolicyRule = { apiGroups: [''], resources: ['configmaps'], verbs: everything };
const syncs: PolicyRule = {
  apiGroups: [ConfigMapSync.group],
  resources: [ConfigMapSync.plural, `${ConfigMapSync.plural}/status`],
  verbs: everything,
};

const OPERATOR = 'webhook.bowline.dev/operator=configmap-sync';

type SpecChange = Partial<WrittenOf<typeof ConfigMapSync>['spec']>;

let c: Cluster & RunningOperators;
let mallory: Client;
let user: string;
/** Mallory's namespaces: that of her ConfigMapSyncs and that of their copies. */
let team: string;
let branch: string;
/** A namespace of another team, with a ConfigMap `private` in it. */
let other: string;
/** A namespace of another team, with a ConfigMap `shared` that Mallory may read. */
let library: string;

beforeAll(async () => {
  c = await cluster({ operators: [configMapSync], prefix: 'tenancy' });
  team = c.namespace;
  [branch, other, library] = [
    await c.createNamespace('tenancy-branch'),
    await c.createNamespace('tenancy-other'),
    await c.createNamespace('tenancy-library'),
  ];
  user = c.uniqueName('mallory');
  mallory = await c.clientFor({ user });
  await grant(team, [configMaps, syncs]);
  await grant(branch, [configMaps]);
  await grant(library, [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['shared'], verbs: ['get'] }]);
  await c.admin.create(ConfigMap, { metadata: { namespace: other, name: 'private' }, data: { password: 'canary' } });
  await c.admin.create(ConfigMap, { metadata: { namespace: library, name: 'shared' }, data: { motto: 'hello' } });
  await c.admin.create(ConfigMap, { metadata: { namespace: team, name: 'mine' }, data: { a: '1' } });
});

afterAll(() => c[Symbol.asyncDispose]());

/** grant grants Mallory rights in a namespace, and waits until the API server honors the last of them. */
async function grant(namespace: string, rules: readonly PolicyRule[]): Promise<void> {
  const metadata = { namespace, name: c.uniqueName('grant') };
  await c.admin.create(Role, { metadata, rules });
  await c.admin.create(RoleBinding, {
    metadata,
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
  });
  const { apiGroups = [], resources = [], resourceNames = [], verbs } = rules.at(-1) ?? { verbs: [] };
  const [group = ''] = apiGroups;
  const [resource = ''] = resources;
  const question = { verb: verbs[0] ?? '', group, resource, namespace };
  const [name] = resourceNames;
  while (!(await mallory.canI(name === undefined ? question : { ...question, name })).allowed);
}

function syncOf(name: string, spec: SpecChange, namespace = team) {
  const given = { sourceNamespace: team, configMapName: 'mine', ...spec };
  return ConfigMapSync.withDefaults({ metadata: { namespace, name }, spec: given });
}

/** refused expects the review to refuse the request, and returns the message. */
async function refused(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isForbidden(error)) throw new Error('expected the request to be rejected as Forbidden', { cause: error });
  expect(error.message).toContain(`${user} lacks permissions that this ConfigMapSync needs: `);
  return error.message;
}

/** admitted repeats a request until the API server has noticed that no webhook is left to refuse it. */
async function admitted(attempt: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (!isForbidden(error)) throw error;
    }
  }
}

const untilReason = (name: string, reason: string, namespace = team) =>
  c.until(ConfigMapSync, { namespace, name }, (sync) => findCondition(sync, 'Ready')?.reason === reason);

async function exists(namespace: string, name: string): Promise<boolean> {
  return (await c.admin.find(ConfigMap, { namespace, name })) !== undefined;
}

/** powerless creates a sync of Mallory's with an account that she may impersonate, and that has no rights. */
async function powerless(name: string, spec: SpecChange): Promise<ConfigMapSync> {
  const account = c.uniqueName('powerless');
  await c.admin.create(ServiceAccount, { metadata: { namespace: team, name: account } });
  await grant(team, [
    { apiGroups: [''], resources: ['serviceaccounts'], resourceNames: [account], verbs: ['impersonate'] },
  ]);
  await mallory.create(ConfigMapSync, syncOf(name, { ...spec, serviceAccountName: account }));
  return untilReason(name, 'InsufficientPermissions');
}

test('a user can sync a ConfigMap that they may read to a namespace that they may write to', async () => {
  await mallory.create(ConfigMapSync, syncOf('own', { destinationNamespace: branch }));
  await untilReason('own', 'AllComponentsReady');
  expect(await mallory.get(ConfigMap, { namespace: branch, name: 'mine' })).toMatchObject({ data: { a: '1' } });
  const shared = { sourceNamespace: library, configMapName: 'shared', destinationNamespace: branch };
  await mallory.create(ConfigMapSync, syncOf('shared', shared));
  await untilReason('shared', 'AllComponentsReady');
});

describe('a user cannot read through a sync', () => {
  test('a ConfigMap that they may not read', async () => {
    const spec = { sourceNamespace: other, configMapName: 'private', destinationNamespace: team };
    const message = await refused(mallory.create(ConfigMapSync, syncOf('read', spec)));
    expect(message).toContain(`get configmap private in namespace ${other}`);
    expect(await exists(team, 'private')).toBe(false);
  });

  test('another ConfigMap in the namespace of one that they may read', async () => {
    const spec = { sourceNamespace: library, configMapName: 'internal', destinationNamespace: team };
    await refused(mallory.create(ConfigMapSync, syncOf('beside', spec)));
  });

  test('by changing a reviewed sync', async () => {
    await mallory.create(ConfigMapSync, syncOf('changing', { destinationNamespace: branch, targetName: 'changing' }));
    const body = { spec: { sourceNamespace: other, configMapName: 'private' } };
    await refused(mallory.patch(ConfigMapSync, { namespace: team, name: 'changing' }, { type: 'merge', body }));
    const { spec } = await mallory.get(ConfigMapSync, { namespace: team, name: 'changing' });
    expect(spec.configMapName).toBe('mine');
  });

  test('by changing it together with its metadata, or by server-side apply', async () => {
    const spec = { sourceNamespace: other, configMapName: 'private', destinationNamespace: team };
    const body = { ...syncOf('applied', spec), apiVersion: 'sync.bowline.dev/v1', kind: 'ConfigMapSync' };
    const key = { namespace: team, name: 'applied' };
    const options = { fieldManager: 'mallory' };
    await refused(mallory.patch(ConfigMapSync, key, { type: 'apply', body }, options));
    await mallory.create(ConfigMapSync, syncOf('applied', { destinationNamespace: branch, targetName: 'applied' }));
    const both = { metadata: { annotations: { [REQUESTS.forceSync]: 'now' } }, spec };
    await refused(mallory.patch(ConfigMapSync, key, { type: 'merge', body: both }));
    await refused(mallory.patch(ConfigMapSync, key, { type: 'apply', body, force: true }, options));
  });

  test('by a status update that contains another spec', async () => {
    const written = syncOf('by-status', { destinationNamespace: branch, targetName: 'by-status' });
    await mallory.create(ConfigMapSync, written);
    await untilReason('by-status', 'AllComponentsReady');
    // The operator writes nothing between the next two requests.
    await c.idle();
    const stored = await mallory.get(ConfigMapSync, { namespace: team, name: 'by-status' });
    const spec = { ...stored.spec, sourceNamespace: other, configMapName: 'private' };
    await mallory.update(ConfigMapSync, { ...stored, spec }, { subresource: 'status' });
    await c.idle();
    const copy = await c.admin.get(ConfigMap, { namespace: branch, name: 'by-status' });
    expect(copy.data).toEqual({ a: '1' });
    expect((await mallory.get(ConfigMapSync, { namespace: team, name: 'by-status' })).spec.configMapName).toBe('mine');
  });

  test('from a copy that they may write but not read, in a two-way sync', async () => {
    const writeOnly = { ...configMaps, verbs: ['create', 'update', 'delete'] };
    const drop = await c.createNamespace('tenancy-drop');
    await grant(drop, [writeOnly]);
    const both: SpecChange = { destinationNamespace: drop, direction: 'Bidirectional' };
    expect(await refused(mallory.create(ConfigMapSync, syncOf('back', both)))).toContain('get configmap mine');
  });
});

describe('a user cannot write through a sync', () => {
  test('where they may not write', async () => {
    const message = await refused(mallory.create(ConfigMapSync, syncOf('write', { destinationNamespace: other })));
    expect(message).toContain(`create configmaps in namespace ${other}`);
    expect(await exists(other, 'mine')).toBe(false);
  });

  test('over an existing ConfigMap', async () => {
    const before = await c.admin.get(ConfigMap, { namespace: other, name: 'private' });
    const spec = { destinationNamespace: other, targetName: 'private' };
    await refused(mallory.create(ConfigMapSync, syncOf('adopt', spec)));
    expect(await c.admin.get(ConfigMap, { namespace: other, name: 'private' })).toEqual(before);
  });

  test('to system namespaces', async () => {
    await refused(mallory.create(ConfigMapSync, syncOf('system', { destinationNamespace: 'kube-system' })));
  });

  test('by a list with a namespace that they may not write to', async () => {
    const destinations = [
      { namespace: branch, name: 'listed' },
      { namespace: other, name: 'listed' },
    ];
    await refused(mallory.create(ConfigMapSync, syncOf('list', { destinations })));
    expect(await exists(branch, 'listed')).toBe(false);
  });

  test('by a selector, even one that matches only their own namespaces today', async () => {
    const destinationSelector = { matchLabels: { 'kubernetes.io/metadata.name': branch } };
    const message = await refused(mallory.create(ConfigMapSync, syncOf('select', { destinationSelector })));
    expect(message).toContain('create configmaps in every namespace');
  });

  test('to a source that they may only read, in a two-way sync', async () => {
    const both: SpecChange = {
      sourceNamespace: library,
      configMapName: 'shared',
      destinationNamespace: branch,
      targetName: 'both',
      direction: 'Bidirectional',
    };
    expect(await refused(mallory.create(ConfigMapSync, syncOf('both', both)))).toContain(`namespace ${library}`);
  });

  test('by adding, renaming or selecting destinations of a reviewed sync', async () => {
    await mallory.create(ConfigMapSync, syncOf('growing', { destinationNamespace: branch, targetName: 'growing' }));
    for (const spec of [
      { destinationNamespace: other },
      { destinations: [{ namespace: other, name: 'private' }] },
      { destinationSelector: {}, excludeNamespaces: [] },
      { destinationSelector: {} },
      { direction: 'Bidirectional', sourceNamespace: library, configMapName: 'shared' },
    ]) {
      const key = { namespace: team, name: 'growing' };
      await refused(mallory.patch(ConfigMapSync, key, { type: 'merge', body: { spec } }));
    }
  });

  test('in a dry run, nor learn more from it than from a real request', async () => {
    const spec = { destinationNamespace: other };
    await refused(mallory.create(ConfigMapSync, syncOf('dry', spec), { dryRun: true }));
    await mallory.create(ConfigMapSync, syncOf('dry', { destinationNamespace: branch }), { dryRun: true });
    await expect(mallory.get(ConfigMapSync, { namespace: team, name: 'dry' })).rejects.toSatisfy(isNotFound);
  });
});

describe("a user cannot change an administrator's sync", () => {
  test('to write elsewhere, or to release copies that they may not delete', async () => {
    const spec = {
      destinations: [
        { namespace: other, name: 'official' },
        { namespace: branch, name: 'official' },
      ],
    };
    await c.admin.create(ConfigMapSync, syncOf('official', spec));
    await untilReason('official', 'AllComponentsReady');
    const key = { namespace: team, name: 'official' };
    for (const change of [
      { destinations: [{ namespace: branch, name: 'official' }] },
      { destinations: null, destinationNamespace: branch },
      { deletionPolicy: 'Orphan' },
      { configMapName: 'forged' },
    ]) {
      await refused(mallory.patch(ConfigMapSync, key, { type: 'merge', body: { spec: change } }));
    }
    expect(await exists(other, 'official')).toBe(true);
  });
});

describe('a user cannot take over', () => {
  test('the copies of a sync with the same name that was deleted without cleanup', async () => {
    await c.admin.create(ConfigMapSync, syncOf('heir', { destinationNamespace: other, targetName: 'heirloom' }));
    await untilReason('heir', 'AllComponentsReady');
    const key = { namespace: team, name: 'heir' };
    await c.stop();
    const body = { metadata: { finalizers: null } };
    await c.admin.patch(ConfigMapSync, key, { type: 'merge', body });
    await c.admin.delete(ConfigMapSync, key);
    await c.restart();
    const before = await c.admin.get(ConfigMap, { namespace: other, name: 'heirloom' });
    await mallory.create(ConfigMapSync, syncOf('heir', { destinationNamespace: branch, targetName: 'heirloom' }));
    await untilReason('heir', 'AllComponentsReady');
    await mallory.delete(ConfigMapSync, key);
    await c.untilGone(ConfigMapSync, key);
    expect(await c.admin.get(ConfigMap, { namespace: other, name: 'heirloom' })).toEqual(before);
  });
});

describe('a user cannot use an account', () => {
  test('that they may not impersonate', async () => {
    const { name } = await c.serviceAccount({ clusterRules: [configMaps] });
    const spec = { destinationNamespace: other, serviceAccountName: name };
    expect(await refused(mallory.create(ConfigMapSync, syncOf('borrow', spec)))).toContain(
      `impersonate serviceaccount ${name}`,
    );
  });

  test('for more than the account is permitted to do', async () => {
    const account = c.uniqueName('account');
    await c.admin.create(ServiceAccount, { metadata: { namespace: team, name: account } });
    await grant(team, [
      { apiGroups: [''], resources: ['serviceaccounts'], resourceNames: [account], verbs: ['impersonate'] },
    ]);
    const spec = {
      sourceNamespace: other,
      configMapName: 'private',
      destinationNamespace: team,
      serviceAccountName: account,
    };
    await mallory.create(ConfigMapSync, syncOf('account', spec));
    const sync = await untilReason('account', 'InsufficientPermissions');
    expect(findCondition(sync, 'Authorized')).toMatchObject({ status: 'False', reason: 'InsufficientPermissions' });
    expect(await exists(team, 'private')).toBe(false);
  });
});

describe("a user cannot block other users' syncs", () => {
  test('by requesting the copy back to the source before the namespace exists', async () => {
    const [late, label] = [c.uniqueName('tenancy-late'), c.uniqueName('label')];
    await c.admin.create(ConfigMap, { metadata: { namespace: other, name: 'ca' }, data: { ca: '1' } });
    const everywhere = { destinationSelector: { matchLabels: { label } } };
    const platform = { sourceNamespace: other, configMapName: 'ca', ...everywhere };
    await c.admin.create(ConfigMapSync, syncOf('platform', platform, other));
    await untilReason('platform', 'AllComponentsReady', other);
    await powerless('way-back', { sourceNamespace: late, configMapName: 'ca', destinationNamespace: other });
    await c.admin.create(Namespace, { metadata: { name: late, labels: { label } } });
    await c.until(ConfigMap, { namespace: late, name: 'ca' }, ({ data }) => data?.ca === '1');
    await c.idle();
    const { status } = await untilReason('platform', 'AllComponentsReady', other);
    expect(status).toMatchObject({ syncedCount: 1, totalCount: 1 });
  });

  test('by requesting the copy back to the source before they are created', async () => {
    await powerless('first', { sourceNamespace: branch, configMapName: 'later', destinationNamespace: other });
    const spec = { sourceNamespace: other, configMapName: 'later', destinationNamespace: branch };
    await c.admin.create(ConfigMapSync, syncOf('later', spec, other));
    await untilReason('later', 'SourceNotFound', other);
  });

  test('or learn about them from the message about a cycle', async () => {
    const spec = { sourceNamespace: other, configMapName: 'private', destinationNamespace: library };
    await c.admin.create(ConfigMapSync, syncOf('hidden', spec, other));
    await untilReason('hidden', 'AllComponentsReady', other);
    const back = { sourceNamespace: library, configMapName: 'private', destinationNamespace: other };
    const { status } = await powerless('curious', back);
    expect(JSON.stringify(status)).not.toContain('other ConfigMapSyncs');
  });
});

test('a user cannot discover namespaces and their labels by selecting them', async () => {
  const { metadata } = await powerless('seeking', { destinationSelector: {}, excludeNamespaces: [] });
  const named = { destinationSelector: { matchLabels: { 'kubernetes.io/metadata.name': other } } };
  const { status } = await powerless('guessing', named);
  expect(findCondition({ status }, 'Authorized')?.message).toContain(
    `get configmap mine in namespace ${team}; create, update and delete configmaps in every namespace that spec.destinationSelector selects; grant`,
  );
  const isSaid = ({ regarding }: Event) => regarding?.name === 'seeking' || regarding?.name === 'guessing';
  const events = await c.untilList(Event, { namespace: team }, (each) => each.filter(isSaid).length === 2);
  const reported = JSON.stringify([
    status,
    (await mallory.get(ConfigMapSync, { namespace: team, name: metadata?.name ?? '' })).status,
    events.filter(isSaid).map(({ note }) => note),
  ]);
  for (const name of [branch, other, library, 'kube-system', 'default']) expect(reported).not.toContain(name);
});

describe('nothing is synced without a review', () => {
  test("in the manager's own namespace, for which no webhook is called", async () => {
    const spec = { sourceNamespace: other, configMapName: 'private', destinationNamespace: team };
    await c.admin.create(ConfigMapSync, syncOf('inside', spec, c.managerNamespace));
    await untilReason('inside', 'AuthorNotReviewed', c.managerNamespace);
    expect(await exists(team, 'private')).toBe(false);
  });

  test('while no configuration is installed', async () => {
    // The configurations of other tests select other namespaces.
    const { items } = await c.admin.list(ValidatingWebhookConfiguration, { labelSelector: OPERATOR });
    const ours = items.filter(({ webhooks = [] }) =>
      webhooks.some(({ namespaceSelector }) => JSON.stringify(namespaceSelector).includes(c.managerNamespace)),
    );
    expect(ours).toHaveLength(1);
    for (const configuration of ours) await c.admin.delete(ValidatingWebhookConfiguration, keyOf(configuration));
    await untilReason('own', 'AuthorNotReviewed');
    const spec = { sourceNamespace: other, configMapName: 'private', destinationNamespace: team };
    await admitted(() => mallory.create(ConfigMapSync, syncOf('window', spec)));
    await untilReason('window', 'AuthorNotReviewed');
    expect(await exists(team, 'private')).toBe(false);
    // Existing copies stay: they are neither removed nor updated.
    await c.admin.patch(ConfigMap, { namespace: team, name: 'mine' }, { type: 'merge', body: { data: { a: '2' } } });
    await c.idle();
    expect(await c.admin.get(ConfigMap, { namespace: branch, name: 'mine' })).toMatchObject({ data: { a: '1' } });
  });
});
