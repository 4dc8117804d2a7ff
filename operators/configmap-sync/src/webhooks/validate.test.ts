import { Namespace, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { createClient } from '@bowline/runtime/client';
import { webhookConfigurations } from '@bowline/runtime/install';
import type { WrittenOf } from '@bowline/runtime/resource';
import type { ValidatingResponse } from '@bowline/runtime/webhook';
import { describe, expect, test } from 'vitest';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { ReviewingTransport } from '../authorization/reviewing-transport.test-support.ts';
import { review } from './validate.ts';

type SpecChange = Partial<WrittenOf<typeof ConfigMapSync>['spec']>;

const sync = (change: SpecChange = {}, name = 'sync'): ConfigMapSync =>
  ConfigMapSync.withDefaults({
    metadata: { namespace: 'team', name },
    spec: { sourceNamespace: 'src', configMapName: 'm', destinationNamespace: 'dst', ...change },
  });

/** Reviews the authors of every namespace but `bowline-system`. */
const { validating: configuration } = webhookConfigurations({
  operator: 'configmap-sync',
  domain: 'bowline.dev',
  webhooks: [review],
  address: { url: 'https://127.0.0.1' },
  ownNamespace: 'bowline-system',
  ownKinds: [ConfigMapSync],
});

interface ReviewInput {
  readonly object?: ConfigMapSync;
  readonly oldObject?: ConfigMapSync;
  readonly others?: readonly ConfigMapSync[];
  readonly namespaces?: readonly string[];
  readonly dryRun?: boolean;
}

/** Calls the webhook with a request of alice, who has these rights. */
async function callReview(allowed: readonly string[], input: ReviewInput = {}) {
  const transport = new ReviewingTransport(...allowed);
  const names = ['team', 'src', 'dst', 'other'];
  const namespaces = names.map((name) => ({ metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } }));
  const request = {
    operation: input.oldObject ? 'UPDATE' : 'CREATE',
    object: input.object ?? sync(),
    oldObject: input.oldObject,
    namespace: 'team',
    userInfo: { username: 'alice', uid: 'u1', groups: ['dev'], extra: { scope: ['x'] } },
    dryRun: input.dryRun ?? false,
    live: createClient({ transport }),
    clock: new VirtualClock(),
    signal: new AbortController().signal,
    get: (_: unknown, { name }: { name: string }) => namespaces.find(({ metadata }) => metadata.name === name),
    list: (kind: { id: string }) => {
      if (kind.id === ValidatingWebhookConfiguration.id) return [configuration];
      return kind.id === Namespace.id ? namespaces : (input.others ?? []);
    },
    deps: { namespaces: input.namespaces, ownNamespace: 'bowline-system', config: { trustAllAuthors: false } },
  };
  const response = (await review.handle(request as never)) as ValidatingResponse;
  const reviewedRights = transport.sentReviews.map(({ right }) => right);
  return { response, denied: 'message' in response ? response : undefined, reviewedRights, transport };
}

const SOURCE = 'get configmaps src/m';
const copy = (namespace: string, name = 'm'): string[] => [
  `create configmaps ${namespace}/*`,
  `update configmaps ${namespace}/${name}`,
  `delete configmaps ${namespace}/${name}`,
];
const BACK: SpecChange = { sourceNamespace: 'dst', destinationNamespace: 'src' };
const EVERYWHERE = copy('*', '*');
const BOTH = ['src', 'dst'].flatMap((namespace) => [`get configmaps ${namespace}/m`, ...copy(namespace)]);

describe('the review of authors', () => {
  test('is called only for requests that could change the spec', () => {
    expect(review).toMatchObject({
      type: 'validating',
      failurePolicy: 'Fail',
      operations: ['CREATE', 'UPDATE'],
      subresources: [],
      sideEffects: 'None',
      objectSelector: {},
      namespaceSelector: {},
    });
    expect(review.matchConditions.map(({ expression }) => expression)).toEqual([
      "request.operation == 'CREATE' || object.spec != oldObject.spec",
    ]);
  });

  test('admits an author who may read the source and write the copy, and reviews the whole identity', async () => {
    const { denied, transport } = await callReview([SOURCE, ...copy('dst')]);
    expect(denied).toBeUndefined();
    for (const { spec } of transport.sentReviews) {
      expect(spec).toMatchObject({ user: 'alice', uid: 'u1', groups: ['dev'], extra: { scope: ['x'] } });
    }
  });

  const selector: SpecChange = { destinationNamespace: undefined, destinationSelector: {} };
  test.each<[string, SpecChange, string[]]>([
    ['one copy', {}, [SOURCE, ...copy('dst')]],
    ['a copy of another name', { targetName: 'x' }, [SOURCE, ...copy('dst', 'x')]],
    ['a copy in kube-system', { destinationNamespace: 'kube-system' }, [SOURCE, ...copy('kube-system')]],
    [
      'a list of copies',
      { destinationNamespace: undefined, destinations: [{ namespace: 'a' }, { namespace: 'b', name: 'x' }] },
      [SOURCE, ...copy('a'), ...copy('b', 'x')],
    ],
    ['a selector', selector, [SOURCE, ...EVERYWHERE]],
    [
      'a selector that matches nothing now',
      { ...selector, destinationSelector: { matchLabels: { no: 'where' } } },
      [SOURCE, ...EVERYWHERE],
    ],
    ['a selector that excludes everything', { ...selector, excludeNamespaces: ['**'] }, [SOURCE, ...EVERYWHERE]],
    ['both ways', { direction: 'Bidirectional' }, BOTH],
    ['a copy that is never deleted', { deletionPolicy: 'Orphan', adoptExisting: false }, [SOURCE, ...copy('dst')]],
    ['a paused sync', { paused: true }, [SOURCE, ...copy('dst')]],
    ['an account', { serviceAccountName: 'sa' }, ['impersonate serviceaccounts team/sa']],
    ['an account and a selector', { ...selector, serviceAccountName: 'sa' }, ['impersonate serviceaccounts team/sa']],
  ])('requires every permission for %s', async (_, change, rights) => {
    expect((await callReview(rights, { object: sync(change) })).denied).toBeUndefined();
    for (const lacking of rights) {
      const { denied } = await callReview(
        rights.filter((right) => right !== lacking),
        { object: sync(change) },
      );
      expect(denied, lacking).toMatchObject({ code: 403, reason: 'Forbidden' });
    }
  });

  test('requires cluster-wide permissions for a selector, not only those in the namespaces that match now', async () => {
    const everyone = ['team', 'src', 'dst', 'other'].flatMap((namespace) => copy(namespace));
    const { denied } = await callReview([SOURCE, ...everyone], { object: sync(selector) });
    expect(denied?.message).toContain('in every namespace');
  });

  test('does not accept a permission to create by name', async () => {
    const { denied } = await callReview([SOURCE, 'create configmaps dst/m', ...copy('dst').slice(1)]);
    expect(denied?.message).toContain('create configmaps in namespace dst');
  });

  test('rejects an account that the author may not impersonate, even with all other permissions', async () => {
    const { denied } = await callReview([SOURCE, ...EVERYWHERE], { object: sync({ serviceAccountName: 'sa' }) });
    expect(denied?.message).toContain('impersonate serviceaccount sa in namespace team');
  });

  test('reports the user and the missing permissions', async () => {
    const { denied } = await callReview([SOURCE, 'create configmaps dst/*']);
    expect(denied?.message).toBe(
      'alice lacks permissions that this ConfigMapSync needs: ' +
        'update configmap m in namespace dst; delete configmap m in namespace dst; ' +
        'grant them with RBAC',
    );
  });

  test('handles a dry run in the same way', async () => {
    expect((await callReview([], { dryRun: true })).denied).toMatchObject({ code: 403 });
    expect((await callReview([SOURCE, ...copy('dst')], { dryRun: true })).denied).toBeUndefined();
  });
});

describe('the review of a change', () => {
  test.each<[string, SpecChange, SpecChange, string[]]>([
    ['another field by another user', {}, { paused: true }, [SOURCE, ...copy('dst')]],
    [
      'another source',
      {},
      { configMapName: 'secret-ish', targetName: 'm' },
      ['get configmaps src/secret-ish', ...copy('dst')],
    ],
    ['another destination', {}, { destinationNamespace: 'b' }, [SOURCE, ...copy('b'), 'delete configmaps dst/m']],
    ['another name of copies', {}, { targetName: 'x' }, [SOURCE, ...copy('dst', 'x'), 'delete configmaps dst/m']],
    [
      'one destination fewer',
      { destinations: [{ namespace: 'b' }] },
      {},
      [SOURCE, ...copy('dst'), 'delete configmaps b/m'],
    ],
    [
      'a removed selector',
      { destinationSelector: {} },
      {},
      [SOURCE, ...copy('dst').slice(0, 2), 'delete configmaps */*'],
    ],
    [
      'fewer exclusions',
      { destinationSelector: {} },
      { destinationSelector: {}, excludeNamespaces: [] },
      [SOURCE, ...EVERYWHERE],
    ],
    ['a change to both ways', {}, { direction: 'Bidirectional' }, BOTH],
    ['an added account', {}, { serviceAccountName: 'sa' }, ['impersonate serviceaccounts team/sa']],
    [
      'another account',
      { serviceAccountName: 'old' },
      { serviceAccountName: 'sa' },
      ['impersonate serviceaccounts team/sa'],
    ],
    ['a removed account', { serviceAccountName: 'sa' }, {}, [SOURCE, ...copy('dst')]],
    [
      'another destination with the same account',
      { serviceAccountName: 'sa' },
      { serviceAccountName: 'sa', destinationNamespace: 'b' },
      ['impersonate serviceaccounts team/sa'],
    ],
  ])('requires every permission for %s', async (_, before, after, rights) => {
    const change = { oldObject: sync(before), object: sync(after) };
    expect((await callReview(rights, change)).denied).toBeUndefined();
    for (const lacking of rights) {
      const { denied } = await callReview(
        rights.filter((right) => right !== lacking),
        change,
      );
      expect(denied, lacking).toMatchObject({ code: 403 });
    }
  });
});

describe('the review of a spec', () => {
  const all = ['get configmaps */*', ...EVERYWHERE];

  test('rejects a spec that the schema accepts, with the invalid fields, and sends no reviews', async () => {
    const transforms = [{ template: { key: 'a', template: '{{' } }, { replace: { pattern: '(', replacement: '' } }];
    const { denied, reviewedRights } = await callReview(all, { object: sync({ transforms }) });
    expect(denied).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(denied?.causes.map(({ field }) => field)).toEqual([
      'spec.transforms[0].template.template',
      'spec.transforms[1].replace',
    ]);
    expect(reviewedRights).toEqual([]);
  });

  test('rejects a cycle, and reports only names from the spec', async () => {
    const others = [
      sync({ sourceNamespace: 'dst', destinationNamespace: 'hidden' }, 'b'),
      sync({ sourceNamespace: 'hidden', destinationNamespace: 'src' }, 'c'),
    ];
    const { denied } = await callReview(all, { others });
    expect(denied).toMatchObject({ code: 422, causes: [{ field: 'spec' }] });
    expect(denied?.message).toContain('dst/m is copied back to src/m');
    expect(denied?.message).not.toContain('hidden');
  });

  test('does not report cycles to an author without permissions', async () => {
    const others = [sync({ sourceNamespace: 'dst', destinationNamespace: 'src' }, 'b')];
    const { denied } = await callReview([SOURCE], { others });
    expect(denied?.message).not.toContain('copied back');
  });

  test('does not report cycles for an account that could not close one', async () => {
    const others = [sync({ sourceNamespace: 'dst', destinationNamespace: 'src' }, 'b')];
    const impersonate = 'impersonate serviceaccounts team/sa';
    const object = sync({ serviceAccountName: 'sa' });
    expect((await callReview([impersonate], { object, others })).denied).toBeUndefined();
    expect((await callReview([impersonate, SOURCE, ...copy('dst')], { object, others })).denied).toMatchObject({
      code: 422,
    });
  });

  test.each<[string, () => ConfigMapSync]>([
    ['has an account without permissions', () => sync({ ...BACK, serviceAccountName: 'powerless' }, 'b')],
    [
      'has an author who was not reviewed',
      () => ({ ...sync(BACK, 'b'), metadata: { namespace: 'bowline-system', name: 'b' } }),
    ],
    ['is paused', () => sync({ ...BACK, paused: true }, 'b')],
    [
      'is being deleted',
      () => ({
        ...sync(BACK, 'b'),
        metadata: { namespace: 'team', name: 'b', deletionTimestamp: '2026-01-01T00:00:00Z' },
      }),
    ],
  ])('ignores a cycle through a sync that %s', async (_, back) => {
    expect((await callReview([SOURCE, ...copy('dst')], { others: [back()] })).denied).toBeUndefined();
    expect((await callReview([SOURCE, ...copy('dst')], { others: [back(), sync(BACK, 'c')] })).denied).toMatchObject({
      code: 422,
    });
  });

  test('rejects a cycle through a selector', async () => {
    const others = [
      sync(
        { sourceNamespace: 'dst', destinationNamespace: undefined, destinationSelector: {}, excludeNamespaces: [] },
        'b',
      ),
    ];
    expect((await callReview(all, { others })).denied).toMatchObject({ code: 422 });
  });

  test('ignores the stored version of the changed sync', async () => {
    const stored = sync({ sourceNamespace: 'dst', destinationNamespace: 'src' });
    expect((await callReview(all, { oldObject: stored, others: [stored] })).denied).toBeUndefined();
  });
});

describe('the review without cluster-wide permissions', () => {
  const namespaces = ['team', 'src', 'dst'];

  test('reviews each namespace', async () => {
    const { denied, transport } = await callReview([SOURCE, ...copy('dst')], { namespaces });
    expect(denied).toBeUndefined();
    expect(transport.sentReviews.map(({ local }) => local)).toEqual([true, true, true, true]);
  });

  test.each<[SpecChange, string]>([
    [{ sourceNamespace: 'other' }, 'spec.sourceNamespace'],
    [{ destinationNamespace: 'other' }, 'spec.destinationNamespace'],
    [{ destinations: [{ namespace: 'dst', name: 'x' }, { namespace: 'other' }] }, 'spec.destinations[1].namespace'],
    [{ destinationSelector: {} }, 'spec.destinationSelector'],
  ])('rejects namespaces without access: %j', async (change, field) => {
    const { denied, reviewedRights } = await callReview(['get configmaps */*', ...EVERYWHERE], {
      namespaces,
      object: sync(change),
    });
    expect(denied).toMatchObject({ code: 422, causes: [{ field, reason: 'FieldValueForbidden' }] });
    expect(reviewedRights).toEqual([]);
  });
});
