import { ConfigMap, Namespace } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { ReviewingTransport } from '../access/reviewing-transport.test-support.ts';
import { createClient } from '../client/create-client.ts';
import { defineResource } from '../resource/define-resource.ts';
import { s } from '../resource/index.ts';
import { admit } from '../webhook/admission-response.ts';
import { webhookConfigurations } from '../webhook/configurations.ts';
import { validating } from '../webhook/declare.ts';
import { type AuthorReviewDeps, authorReview } from './author-review.ts';
import type { ReviewConfiguration } from './webhook-coverage.ts';

const Page = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Page',
  scope: 'Namespaced',
  spec: s.object({ secretNames: s.array(s.string()).maxItems(8).default([]) }),
});

const authors = authorReview(Page, { operator: { name: 'pages', domain: 'example.com' } });

const review = validating(Page, authors.webhook)
  .using<AuthorReviewDeps>()
  .handle(async (request) => (await authors.denial(request, [])) ?? admit());

const installed = webhookConfigurations({
  operator: 'pages',
  domain: 'example.com',
  webhooks: [review],
  address: { service: { namespace: 'system', name: 'webhook' } },
  ownNamespace: 'system',
}).validating as ReviewConfiguration;

type Entry = NonNullable<ReviewConfiguration['webhooks']>[number];

function changed(change: Partial<Entry>): ReviewConfiguration {
  return { webhooks: (installed.webhooks ?? []).map((webhook) => ({ ...webhook, ...change })) };
}

const deps = { config: { trustAllAuthors: false }, ownNamespace: 'system' };

function isReviewed(configuration: ReviewConfiguration | undefined, name = 'team', labels?: Record<string, string>) {
  const list = () => (configuration ? [configuration] : []);
  const get = () =>
    labels && { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: 'u', resourceVersion: '1', labels } };
  return authors.isTrustedIn({ get, list, deps }, name);
}

describe('isTrustedIn', () => {
  it('is true if the rendered configuration is installed', () => {
    expect(isReviewed(installed)).toBe(true);
    expect(isReviewed(installed, 'kube-system')).toBe(true);
  });

  it("is never true in the manager's own namespace", () => {
    expect(isReviewed(installed, 'system')).toBe(false);
    expect(isReviewed(changed({ namespaceSelector: {} }), 'system')).toBe(false);
  });

  const rule = installed.webhooks?.[0]?.rules?.[0] ?? {};
  it.each<[string, ReviewConfiguration | undefined]>([
    ['nothing is installed', undefined],
    ['it is empty', {}],
    ['another webhook', changed({ name: 'other.pages.example.com' })],
    ['failures are ignored', changed({ failurePolicy: 'Ignore' })],
    [
      'it selects other namespaces',
      changed({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'x' } } }),
    ],
    ['it selects by labels that are missing', changed({ namespaceSelector: { matchLabels: { review: 'yes' } } })],
    ['its selector is not valid', changed({ namespaceSelector: { matchExpressions: [{ key: 'a', operator: '?' }] } })],
    [
      'authors can bypass it with a label',
      changed({ objectSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] } }),
    ],
    [
      'authors can bypass it with a match condition',
      changed({ matchConditions: [{ name: 'x', expression: "!('skip' in object.metadata.annotations)" }] }),
    ],
    ['it is only called for creations', changed({ rules: [{ ...rule, operations: ['CREATE'] }] })],
    ['it is called for another kind', changed({ rules: [{ ...rule, resources: ['others'] }] })],
    ['it is called for another group', changed({ rules: [{ ...rule, apiGroups: ['other.example.com'] }] })],
    ['it is called for another version', changed({ rules: [{ ...rule, apiVersions: ['v0'] }] })],
    ['it is only called for the status', changed({ rules: [{ ...rule, resources: ['pages/status'] }] })],
    ['it has no rules', changed({ rules: [] })],
  ])('is false if %s', (_, configuration) => {
    expect(isReviewed(configuration)).toBe(false);
  });

  it.each<[string, Partial<Entry>]>([
    ['the failure policy is the default', { failurePolicy: undefined }],
    ['there are no match conditions', { matchConditions: undefined }],
    [
      'rules are wider',
      { rules: [{ ...rule, operations: ['*'], resources: ['*'], apiGroups: ['*'], apiVersions: ['*'], scope: '*' }] },
    ],
    [
      'two rules share the operations',
      {
        rules: [
          { ...rule, operations: ['CREATE'] },
          { ...rule, operations: ['UPDATE'] },
        ],
      },
    ],
    ['the name is selected', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team' } } }],
  ])('is true if %s', (_, change) => {
    expect(isReviewed(changed(change))).toBe(true);
  });

  it('matches the labels of the namespace, but not a forged name label', () => {
    const labelled = changed({ namespaceSelector: { matchLabels: { review: 'yes' } } });
    expect(isReviewed(labelled, 'team', { review: 'yes' })).toBe(true);
    const named = changed({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'x' } } });
    expect(isReviewed(named, 'team', { 'kubernetes.io/metadata.name': 'x' })).toBe(false);
  });

  it('is false if the selector depends on labels that are not known', () => {
    const exceptions = changed({
      namespaceSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] },
    });
    expect(isReviewed(exceptions, 'team', { a: 'b' })).toBe(true);
    expect(isReviewed(exceptions, 'team', { skip: 'x' })).toBe(false);
    expect(isReviewed(exceptions, 'team')).toBe(false);
    expect(authors.isTrustedIn({ list: () => [exceptions], deps }, 'team')).toBe(false);
  });

  it('is true everywhere if all authors are trusted', () => {
    const trusting = { ...deps, config: { trustAllAuthors: true } };
    for (const name of ['team', 'system']) {
      expect(authors.isTrustedIn({ list: () => [], deps: trusting }, name)).toBe(true);
    }
  });
});

describe('denial', () => {
  const read = (name: string) => ({ verb: 'get', resource: 'secrets', namespace: 'team', name });

  function request(allowed: readonly string[], namespaces?: readonly string[]) {
    const transport = new ReviewingTransport(...allowed);
    const userInfo = { username: 'alice', uid: 'u1', groups: ['dev'], extra: { scope: ['x'] } };
    const live = createClient({ transport });
    const signal = new AbortController().signal;
    return { transport, request: { userInfo, live, clock: new VirtualClock(), signal, deps: { ...deps, namespaces } } };
  }

  it('reviews the whole identity of the author', async () => {
    const { transport, request: sent } = request(['get secrets team/a', 'get secrets team/b']);
    expect(await authors.denial(sent, [read('a'), read('b')])).toBeUndefined();
    expect(transport.sentReviews.map(({ question }) => question)).toEqual([
      'get secrets */*',
      'get secrets team/a',
      'get secrets team/b',
    ]);
    for (const { spec } of transport.sentReviews) {
      expect(spec).toMatchObject({ user: 'alice', uid: 'u1', groups: ['dev'], extra: { scope: ['x'] } });
    }
  });

  it('names the author, the kind and what is missing', async () => {
    const { request: sent } = request(['get secrets team/a']);
    expect(await authors.denial(sent, [read('a'), read('b')])).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: 'alice lacks permissions that this Page needs: get secret b in namespace team; grant them with RBAC',
    });
  });

  it('reviews single namespaces if the manager is limited to namespaces', async () => {
    const { transport, request: sent } = request(['get secrets team/a'], ['team']);
    expect(await authors.denial(sent, [read('a')])).toBeUndefined();
    expect(transport.sentReviews).toMatchObject([{ question: 'get secrets team/a', local: true }]);
  });

  it('admits without a review if no permission is needed', async () => {
    const { transport, request: sent } = request([]);
    expect(await authors.denial(sent, [])).toBeUndefined();
    expect(transport.sentReviews).toEqual([]);
  });
});

describe('authorReview', () => {
  it('declares a webhook that is called only for requests that could change the spec', () => {
    expect(review).toMatchObject({
      type: 'validating',
      name: 'review',
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

  it('observes changes of the configuration, but not of its certificates', () => {
    const { view, when } = authors.configuration;
    const observed = (caBundle: string, failurePolicy: 'Fail' | 'Ignore') =>
      view.project({
        webhooks: (installed.webhooks ?? []).map((webhook) => ({
          ...webhook,
          failurePolicy,
          clientConfig: { caBundle },
        })),
      });
    expect(when({ previous: observed('a', 'Fail'), current: observed('b', 'Fail') })).toBe(false);
    expect(when({ previous: observed('a', 'Fail'), current: observed('a', 'Ignore') })).toBe(true);
  });

  it('rejects a cluster-scoped kind', () => {
    expect(() => authorReview(Namespace, { operator: { name: 'pages', domain: 'example.com' } })).toThrow(
      'cannot review the authors of Namespace: the kind must be namespaced',
    );
    expect(() => authorReview(ConfigMap, { operator: { name: 'pages', domain: 'example.com' } })).not.toThrow();
  });
});
