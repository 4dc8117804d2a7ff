import { webhookConfigurations } from '@bowline/runtime/install';
import { webhookFullName } from '@bowline/runtime/webhook';
import { describe, expect, test } from 'vitest';
import { OPERATOR } from '../api/names.ts';
import { review } from '../webhooks/validate.ts';
import { isAuthorReviewed, REVIEW_WEBHOOK, type ReviewConfiguration } from './author-review.ts';

const installed = webhookConfigurations({
  operator: OPERATOR.name,
  domain: OPERATOR.domain,
  webhooks: [review],
  address: { service: { namespace: 'system', name: 'webhook' } },
  ownNamespace: 'system',
}).validating as ReviewConfiguration;

type Entry = NonNullable<ReviewConfiguration['webhooks']>[number];

function changed(change: Partial<Entry>): ReviewConfiguration {
  return { webhooks: (installed.webhooks ?? []).map((webhook) => ({ ...webhook, ...change })) };
}

const isReviewed = (configuration: ReviewConfiguration | undefined, name = 'team', labels?: Record<string, string>) =>
  isAuthorReviewed({ configuration, namespace: { name, labels }, ownNamespace: 'system' });

describe('isAuthorReviewed', () => {
  test('is true if the rendered configuration is installed', () => {
    expect(webhookFullName(OPERATOR, review)).toBe(REVIEW_WEBHOOK);
    expect(isReviewed(installed)).toBe(true);
    expect(isReviewed(installed, 'kube-system')).toBe(true);
  });

  test("is never true in the manager's own namespace", () => {
    expect(isReviewed(installed, 'system')).toBe(false);
    expect(isReviewed(changed({ namespaceSelector: {} }), 'system')).toBe(false);
  });

  const rule = installed.webhooks?.[0]?.rules?.[0] ?? {};
  test.each<[string, ReviewConfiguration | undefined]>([
    ['nothing is installed', undefined],
    ['it is empty', {}],
    ['another webhook', changed({ name: 'other.configmap-sync.bowline.dev' })],
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
    ['it is called for another group', changed({ rules: [{ ...rule, apiGroups: ['example.dev'] }] })],
    ['it is called for another version', changed({ rules: [{ ...rule, apiVersions: ['v0'] }] })],
    ['it is only called for the status', changed({ rules: [{ ...rule, resources: ['configmapsyncs/status'] }] })],
    ['it has no rules', changed({ rules: [] })],
  ])('is false if %s', (_, configuration) => {
    expect(isReviewed(configuration)).toBe(false);
  });

  test.each<[string, Partial<Entry>]>([
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

  test('matches the labels of the namespace, but not a forged name label', () => {
    const labelled = changed({ namespaceSelector: { matchLabels: { review: 'yes' } } });
    expect(isReviewed(labelled, 'team', { review: 'yes' })).toBe(true);
    const named = changed({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'x' } } });
    expect(isReviewed(named, 'team', { 'kubernetes.io/metadata.name': 'x' })).toBe(false);
  });
});
