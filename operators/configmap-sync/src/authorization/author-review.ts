import { Namespace, type ValidatingWebhook, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { project } from '@bowline/runtime';
import type { MetadataObject } from '@bowline/runtime/cache';
import { ConfigMapSync } from '../api/config-map-sync.ts';

/** REVIEW_CONDITION is the match condition of the webhook: a request that does not change the spec needs no review. */
export const REVIEW_CONDITION = {
  name: 'spec-changed',
  expression: "request.operation == 'CREATE' || object.spec != oldObject.spec",
} as const;

/** REVIEW_WEBHOOK is the name of the webhook that reviews authors, as in its configuration. */
export const REVIEW_WEBHOOK = 'review.configmap-sync.bowline.dev';

/** ReviewConfiguration is the part of the webhook configuration that the cache keeps. */
export type ReviewConfiguration = Pick<ValidatingWebhookConfiguration, 'webhooks'>;

/**
 * reviewView keeps the fields that decide whether authors are reviewed: certificates change, and are irrelevant here.
 */
export const reviewView = project(
  ({ webhooks }: ValidatingWebhookConfiguration): ReviewConfiguration => ({
    webhooks: webhooks?.map((webhook) => ({ ...webhook, clientConfig: {} })),
  }),
);

/** ReviewFacts gives access to the known state of the cluster and to the operator's configuration. */
export interface ReviewFacts {
  get(kind: typeof Namespace, key: { readonly name: string }): MetadataObject | undefined;
  list(kind: typeof ValidatingWebhookConfiguration): readonly ReviewConfiguration[];
  readonly deps: {
    readonly config: { readonly trustAllAuthors: boolean };
    readonly ownNamespace: string;
  };
}

/**
 * isReconciledIn reports whether ConfigMapSyncs of a namespace are reconciled: their authors are reviewed, or all are
 * trusted.
 */
export function isReconciledIn({ get, list, deps }: ReviewFacts, name: string): boolean {
  if (deps.config.trustAllAuthors) return true;
  const [configuration] = list(ValidatingWebhookConfiguration);
  const namespace = { name, labels: get(Namespace, { name })?.metadata.labels };
  return isAuthorReviewed({ configuration, namespace, ownNamespace: deps.ownNamespace });
}

/** AuthorReviewInput holds the inputs of isAuthorReviewed. */
export interface AuthorReviewInput {
  /** The operator's own webhook configuration, as installed; undefined if it is not. */
  readonly configuration: ReviewConfiguration | undefined;
  /** The namespace, with its labels; the labels that every namespace has are known without reading it. */
  readonly namespace: { readonly name: string; readonly labels?: Readonly<Record<string, string>> | undefined };
  /** The manager's own namespace, for which webhooks are never called. */
  readonly ownNamespace: string;
}

/**
 * isAuthorReviewed reports whether every creation or change of a ConfigMapSync in a namespace is subject to a review of
 * the author's rights: the API server calls our webhook for every such request there, and refuses the request if it
 * gets no answer.
 */
export function isAuthorReviewed({ configuration, namespace, ownNamespace }: AuthorReviewInput): boolean {
  if (namespace.name === ownNamespace) return false;
  const labels = { ...namespace.labels, 'kubernetes.io/metadata.name': namespace.name };
  return (configuration?.webhooks ?? []).some(
    (webhook) => webhook.name === REVIEW_WEBHOOK && isAlwaysCalled(webhook) && selects(webhook, labels),
  );
}

/** Reports whether only the namespace decides whether the webhook is called. */
function isAlwaysCalled(webhook: ValidatingWebhook): boolean {
  const { failurePolicy = 'Fail', matchConditions = [], objectSelector } = webhook;
  return (
    failurePolicy === 'Fail' &&
    // Authors choose the labels of their objects.
    isEmpty(objectSelector) &&
    matchConditions.every(({ expression }) => expression === REVIEW_CONDITION.expression) &&
    ['CREATE', 'UPDATE'].every((operation) => covers(webhook, operation))
  );
}

function covers({ rules = [] }: ValidatingWebhook, operation: string): boolean {
  const has = (values: readonly string[] | undefined, ...wanted: string[]): boolean =>
    values?.some((value) => value === '*' || wanted.includes(value)) ?? false;
  return rules.some(
    ({ apiGroups, apiVersions, operations, resources, scope = '*' }) =>
      has(apiGroups, ConfigMapSync.group) &&
      has(apiVersions, ConfigMapSync.version) &&
      has(operations, operation) &&
      has(resources, ConfigMapSync.plural, '*/*') &&
      scope !== 'Cluster',
  );
}

function isEmpty(selector: ValidatingWebhook['objectSelector']): boolean {
  return !selector?.matchExpressions?.length && Object.keys(selector?.matchLabels ?? {}).length === 0;
}

function selects({ namespaceSelector = {} }: ValidatingWebhook, labels: Readonly<Record<string, string>>): boolean {
  try {
    return labelSelector(namespaceSelector).matches(labels);
  } catch {
    // An unknown form of selector: assume that authors are not reviewed.
    return false;
  }
}
