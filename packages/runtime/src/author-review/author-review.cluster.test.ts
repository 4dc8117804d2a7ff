import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, keyOf, Namespace, Role, RoleBinding, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import type { AccessQuestion } from '../client/client.ts';
import { controller } from '../controller/builder.ts';
import { labelsChanged } from '../controller/predicates.ts';
import { terminal } from '../controller/reconcile-error.ts';
import { defineOperator } from '../operator/operator.ts';
import { defineResource } from '../resource/define-resource.ts';
import { s } from '../resource/index.ts';
import { admit } from '../webhook/admission-response.ts';
import { validating } from '../webhook/declare.ts';
import { findCondition } from '../writing/conditions.ts';
import { AUTHOR_NOT_REVIEWED, type AuthorReviewDeps, authorReview } from './author-review.ts';
import { REVIEW_PERMISSIONS } from './review-permissions.ts';

const OPERATOR = { name: 'secret-pages', domain: 'author-review.test' };

const Page = defineResource({
  group: 'author-review.test',
  version: 'v1',
  kind: 'Page',
  scope: 'Namespaced',
  spec: s.object({ secretName: s.string() }),
  status: s.object({}),
});

const authors = authorReview(Page, { operator: OPERATOR });

const review = validating(Page, authors.webhook)
  .using<AuthorReviewDeps>()
  .handle(async (request) => {
    const needed = [
      { verb: 'get', resource: 'secrets', namespace: request.namespace, name: request.object.spec.secretName },
    ];
    return (await authors.denial(request, needed)) ?? admit();
  });

const pages = defineOperator({
  ...OPERATOR,
  resources: [Page],
  webhooks: [review],
  permissions: REVIEW_PERMISSIONS,
  setup: ({ namespace, namespaces }): AuthorReviewDeps => ({
    config: { trustAllAuthors: false },
    ownNamespace: namespace,
    namespaces,
  }),
  controllers: [
    controller(Page)
      .using<AuthorReviewDeps>()
      .watches(ValidatingWebhookConfiguration, {
        ...authors.configuration,
        map: (_, cache) => cache.list(Page).map(keyOf),
      })
      .watches(Namespace, {
        view: 'metadata',
        clusterWideOnly: true,
        when: labelsChanged(),
        map: ({ metadata: { name: namespace } }, cache) => cache.list(Page, { namespace }).map(keyOf),
      })
      .owns(ConfigMap)
      .reconcile(async (context) => {
        const { namespace = '' } = context.key;
        if (!authors.isTrustedIn(context, namespace)) {
          throw terminal(AUTHOR_NOT_REVIEWED, authors.unreviewed(namespace));
        }
        await context.apply(ConfigMap, { metadata: context.key, data: { page: 'published' } });
      }),
  ],
});

it('acts only on objects whose authors were reviewed and have the permissions', async () => {
  await using c = await cluster({ operators: [pages], prefix: 'authors' });
  const { namespace } = c;
  const user = c.uniqueName('author');
  const author = await c.clientFor({ user });
  const grant = async (verb: string, { group = '', resource, name }: Omit<AccessQuestion, 'verb'>): Promise<void> => {
    const metadata = { namespace, name: c.uniqueName('grant') };
    const resourceNames = name === undefined ? [] : [name];
    const rules = [{ apiGroups: [group], resources: [resource], resourceNames, verbs: [verb] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }];
    await c.admin.create(Role, { metadata, rules });
    await c.admin.create(RoleBinding, { metadata, roleRef, subjects });
    // The API server honors it a moment later.
    while (!(await author.canI({ verb, group, resource, namespace, name })).allowed);
  };
  const pageOf = (name: string, of = namespace) => ({
    metadata: { namespace: of, name },
    spec: { secretName: 'token' },
  });
  await grant('create', { group: Page.group, resource: Page.plural });
  await grant('patch', { group: Page.group, resource: Page.plural });

  await expect(author.create(Page, pageOf('refused'))).rejects.toMatchObject({
    code: 'BOWLINE_API_FORBIDDEN',
    message: expect.stringContaining(
      `${user} lacks permissions that this Page needs: get secret token in namespace ${namespace}; grant them with RBAC`,
    ) as string,
  });
  await grant('get', { resource: 'secrets', name: 'token' });
  await author.create(Page, pageOf('home'));
  await c.until(ConfigMap, { name: 'home' }, ({ data }) => data?.page === 'published');
  const other = author.patch(
    Page,
    { namespace, name: 'home' },
    { type: 'merge', body: { spec: { secretName: 'other' } } },
  );
  await expect(other).rejects.toMatchObject({ code: 'BOWLINE_API_FORBIDDEN' });

  // The webhook is never called for the namespace of the manager.
  await c.admin.create(Page, pageOf('unreviewed', c.managerNamespace));
  const unreviewed = await c.until(
    Page,
    { namespace: c.managerNamespace, name: 'unreviewed' },
    (page) => findCondition(page, 'Ready')?.reason === AUTHOR_NOT_REVIEWED,
  );
  expect(findCondition(unreviewed, 'Ready')?.message).toContain(`no webhook covers namespace ${c.managerNamespace}`);
  expect(await c.admin.find(ConfigMap, { namespace: c.managerNamespace, name: 'unreviewed' })).toBeUndefined();
});
