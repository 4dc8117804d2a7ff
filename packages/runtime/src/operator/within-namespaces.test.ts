import { ConfigMap, Namespace, Secret, SubjectAccessReview, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { LocalSubjectAccessReview } from '@bowline/kubernetes/authorization-v1';
import { describe, expect, it } from 'vitest';
import { controller, keyed } from '../controller/builder.ts';
import { cacheReads, omittedSources } from '../controller/cache-reads.ts';
import { allow, OWN_NAMESPACE } from '../permissions/permission.ts';
import { admit } from '../webhook/admission-response.ts';
import { validating } from '../webhook/declare.ts';
import { OWN_WEBHOOKS } from '../webhook/own-webhooks.ts';
import { permissionsOf } from './declared-permissions.ts';
import { defineOperator, type Operator } from './operator.ts';
import { withinNamespaces } from './within-namespaces.ts';

const copies = controller(ConfigMap, { name: 'copies' })
  .watches(Namespace, { clusterWideOnly: true, map: () => [] })
  .watches(Secret, { namespaces: ['kube-public'], map: () => [] })
  .applies(ConfigMap)
  .reconcile(() => {});

const operator = defineOperator({
  name: 'copy',
  domain: 'bowline.dev',
  controllers: [copies],
  permissions: [
    allow(['create'], SubjectAccessReview, { only: 'cluster-wide' }),
    allow(['create'], LocalSubjectAccessReview, { only: 'namespaces' }),
    allow(['get'], Secret, { names: ['key'], namespaces: [OWN_NAMESPACE] }),
    allow(['get'], ValidatingWebhookConfiguration, { names: ['bowline-copy'] }),
  ],
});

const resourcesOf = (rules: readonly { readonly resources?: readonly string[] | undefined }[]): readonly string[] =>
  rules.flatMap(({ resources = [] }) => resources);

describe('withinNamespaces', () => {
  it('grants declarations for all namespaces in each namespace, and cluster-wide rights only by name', () => {
    const { cluster, namespaces, own } = permissionsOf(withinNamespaces(operator, ['b', 'a', 'b']));
    expect(cluster).toEqual([
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations'],
        resourceNames: ['bowline-copy'],
        verbs: ['get'],
      },
    ]);
    expect(Object.keys(namespaces)).toEqual(['a', 'b', 'kube-public']);
    expect(namespaces.a).toEqual(namespaces.b);
    expect(resourcesOf(namespaces.a ?? [])).toEqual([
      'configmaps',
      'configmaps/finalizers',
      'localsubjectaccessreviews',
      'events',
    ]);
    expect(resourcesOf(namespaces['kube-public'] ?? [])).toEqual(['secrets']);
    expect(resourcesOf(own)).toContain('secrets');
  });

  it('lets a controller or a webhook read its own webhook configuration by name', () => {
    const watchingController = controller(ConfigMap, { name: 'copies' })
      .watches(ValidatingWebhookConfiguration, { fieldSelector: OWN_WEBHOOKS, map: () => [] })
      .reconcile(() => {});
    const readingWebhook = validating(ConfigMap, { name: 'names', operations: ['CREATE'] })
      .reads(ValidatingWebhookConfiguration, { fieldSelector: OWN_WEBHOOKS })
      .handle(() => admit());
    for (const declared of [{ controllers: [watchingController] }, { controllers: [], webhooks: [readingWebhook] }]) {
      const limited = withinNamespaces(defineOperator({ name: 'copy', domain: 'bowline.dev', ...declared }), ['a']);
      for (const installName of [undefined, 'copy-elsewhere']) {
        const { cluster } = permissionsOf(limited, { installName });
        expect(cluster.flatMap(({ resourceNames = [] }) => resourceNames)).not.toContain('(own)');
        expect(cluster).toContainEqual({
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['validatingwebhookconfigurations'],
          resourceNames: [installName ?? 'bowline-copy'],
          verbs: expect.arrayContaining(['get', 'list', 'watch']),
        });
      }
    }
  });

  it('returns an operator unchanged without namespaces, and without permissions for namespaces only', () => {
    expect(withinNamespaces(operator, undefined)).toBe(operator);
    const { cluster, namespaces } = permissionsOf(operator);
    expect(resourcesOf(cluster)).toEqual(expect.arrayContaining(['subjectaccessreviews', 'namespaces']));
    expect(resourcesOf(cluster)).not.toContain('localsubjectaccessreviews');
    expect(Object.keys(namespaces)).toEqual(['kube-public']);
  });

  it('returns no objects of an omitted source', () => {
    const { sources } = withinNamespaces(operator, ['a']).controllers[0] ?? { sources: [] };
    expect([...omittedSources(sources)]).toEqual([Namespace.id]);
    const reads = cacheReads('copies', new Map(), omittedSources(sources));
    expect(reads.get(Namespace.id, { name: 'a' })).toBeUndefined();
    expect(reads.list(Namespace, { by: { any: 'thing' } })).toEqual([]);
    expect(() => reads.list(ConfigMap)).toThrow('declare it with .owns or .watches');
  });

  it.each<[string, Operator, RegExp]>([
    [
      'a primary kind',
      defineOperator({ name: 'x', domain: 'bowline.dev', controllers: [controller(Namespace).reconcile(() => {})] }),
      /the controller namespace watches Namespace, which is cluster-scoped; run it without namespaces/,
    ],
    [
      'a watched kind',
      defineOperator({
        name: 'x',
        domain: 'bowline.dev',
        controllers: [
          controller(ConfigMap)
            .watches(Namespace, { map: () => [] })
            .reconcile(() => {}),
        ],
      }),
      /the controller configmap watches Namespace.*`clusterWideOnly: true`/,
    ],
    [
      'a written kind',
      defineOperator({
        name: 'x',
        domain: 'bowline.dev',
        controllers: [
          controller(ConfigMap)
            .ensures(Namespace)
            .reconcile(() => {}),
        ],
      }),
      /the controller configmap writes Namespace/,
    ],
    [
      'a kind that events are about',
      defineOperator({
        name: 'x',
        domain: 'bowline.dev',
        controllers: [
          keyed('work')
            .watches(ConfigMap, { map: () => [] })
            .reports(Namespace)
            .reconcile(() => {}),
        ],
      }),
      /the controller work sends events about Namespace/,
    ],
    [
      'a kind that a webhook reads',
      defineOperator({
        name: 'x',
        domain: 'bowline.dev',
        webhooks: [
          validating(ConfigMap, { name: 'w', operations: ['CREATE'] })
            .reads(Namespace)
            .handle(() => admit()),
        ],
      }),
      /the webhook w reads Namespace/,
    ],
    [
      'an allowed kind',
      defineOperator({
        name: 'x',
        domain: 'bowline.dev',
        controllers: [controller(ConfigMap).reconcile(() => {})],
        permissions: [allow(['create'], SubjectAccessReview)],
      }),
      /it declares permission to create subjectaccessreviews.*`only: 'cluster-wide'`/,
    ],
  ])('refuses %s that is cluster-scoped, and names it', (_, refused, message) => {
    const limit = () => withinNamespaces(refused, ['a']);
    expect(limit).toThrow(message);
    expect(limit).toThrow(expect.objectContaining({ code: 'BOWLINE_CLUSTER_WIDE_KIND' }));
  });

  it('refuses an empty list', () => {
    expect(() => withinNamespaces(operator, [])).toThrow('name at least one');
  });
});
