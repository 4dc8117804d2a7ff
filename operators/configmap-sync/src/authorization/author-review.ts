import { Namespace, type ValidatingWebhook, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { project } from '@bowline/runtime';
import type { MetadataObject } from '@bowline/runtime/cache';
import { ConfigMapSync } from '../api/config-map-sync.ts';

/** The condition under which the API server need not ask: what does not change the spec needs no review. */
export const REVIEW_CONDITION = {
  name: 'spec-changed',
  expression: "request.operation == 'CREATE' || object.spec != oldObject.spec",
} as const;

/** REVIEW_WEBHOOK is the name of the webhook that reviews authors, as its configuration has it. */
export const REVIEW_WEBHOOK = 'review.configmap-sync.bowline.dev';

/** ReviewConfiguration is what is kept of the webhook configuration. */
export type ReviewConfiguration = Pick<ValidatingWebhookConfiguration, 'webhooks'>;

/** reviewView keeps what decides whether authors are reviewed: certificates come and go, and have no part in it. */
export const reviewView = project(
  ({ webhooks }: ValidatingWebhookConfiguration): ReviewConfiguration => ({
    webhooks: webhooks?.map((webhook) => ({ ...webhook, clientConfig: {} })),
  }),
);

/** ReviewFacts are what is known of the cluster, and how the operator is configured. */
export interface ReviewFacts {
  get(kind: typeof Namespace, key: { readonly name: string }): MetadataObject | undefined;
  list(kind: typeof ValidatingWebhookConfiguration): readonly ReviewConfiguration[];
  readonly deps: {
    readonly config: { readonly trustAllAuthors: boolean };
    readonly ownNamespace: string;
  };
}

/** isObeyedIn says whether ConfigMapSyncs of a namespace are obeyed: their authors are reviewed, or all are trusted. */
export function isObeyedIn({ get, list, deps }: ReviewFacts, name: string): boolean {
  if (deps.config.trustAllAuthors) return true;
  const [configuration] = list(ValidatingWebhookConfiguration);
  const namespace = { name, labels: get(Namespace, { name })?.metadata.labels };
  return isAuthorReviewed({ configuration, namespace, ownNamespace: deps.ownNamespace });
}

/** AuthorReviewQuestion is about the authors of a namespace's ConfigMapSyncs. */
export interface AuthorReviewQuestion {
  /** The operator's own configuration, as it is installed; undefined when it is not. */
  readonly configuration: ReviewConfiguration | undefined;
  /** The namespace, with its labels; those that every namespace has are known without seeing it. */
  readonly namespace: { readonly name: string; readonly labels?: Readonly<Record<string, string>> | undefined };
  /** The manager's own namespace, about which webhooks are never asked. */
  readonly ownNamespace: string;
}

/**
 * isAuthorReviewed says whether nobody can create or change a ConfigMapSync in a namespace without a review of their rights:
 * the API server asks our webhook about every such request there, and refuses it when it gets no answer.
 */
export function isAuthorReviewed({ configuration, namespace, ownNamespace }: AuthorReviewQuestion): boolean {
  if (namespace.name === ownNamespace) return false;
  const labels = { ...namespace.labels, 'kubernetes.io/metadata.name': namespace.name };
  return (configuration?.webhooks ?? []).some(
    (webhook) => webhook.name === REVIEW_WEBHOOK && asksAlways(webhook) && selects(webhook, labels),
  );
}

/** Whether nothing but the namespace decides about being asked. */
function asksAlways(webhook: ValidatingWebhook): boolean {
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
    // Of a form that is not known here: better not reviewed than not knowing.
    return false;
  }
}
