import type { Resource, ValidatingWebhook, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { NAMESPACE_NAME } from '../webhook/namespace-selector.ts';

/** SPEC_CHANGED is the match condition of the webhook: a request that does not change the spec needs no review. */
export const SPEC_CHANGED = {
  name: 'spec-changed',
  expression: "request.operation == 'CREATE' || object.spec != oldObject.spec",
} as const;

/** ReviewConfiguration is the part of the webhook configuration that the cache keeps. */
export type ReviewConfiguration = Pick<ValidatingWebhookConfiguration, 'webhooks'>;

/** WebhookCoverage holds the inputs of isAlwaysCalled. */
export interface WebhookCoverage {
  /** The operator's own webhook configuration, as installed. */
  readonly configuration: ReviewConfiguration;
  /** The full name of the webhook. */
  readonly webhookName: string;
  readonly kind: Resource;
  /** The namespace. The label that every namespace has is known without reading it; undefined labels are not known. */
  readonly namespace: { readonly name: string; readonly labels?: Readonly<Record<string, string>> | undefined };
}

/**
 * isAlwaysCalled reports whether the API server calls the webhook for every new or changed spec of a kind in a
 * namespace, and refuses the request if it gets no response.
 */
export function isAlwaysCalled({ configuration, webhookName, kind, namespace }: WebhookCoverage): boolean {
  return (configuration.webhooks ?? []).some(
    (webhook) =>
      webhook.name === webhookName &&
      hasNoExceptions(webhook) &&
      coversSpecs(webhook, kind) &&
      selects(webhook, namespace),
  );
}

/** Reports whether nothing that authors choose decides whether the webhook is called. */
function hasNoExceptions({ failurePolicy = 'Fail', matchConditions = [], objectSelector }: ValidatingWebhook): boolean {
  return (
    failurePolicy === 'Fail' &&
    // Authors choose the labels of their objects.
    isEmpty(objectSelector) &&
    matchConditions.every(({ expression }) => expression === SPEC_CHANGED.expression)
  );
}

function coversSpecs({ rules = [] }: ValidatingWebhook, { group, version, plural }: Resource): boolean {
  const has = (values: readonly string[] | undefined, ...wanted: string[]): boolean =>
    values?.some((value) => value === '*' || wanted.includes(value)) ?? false;
  return ['CREATE', 'UPDATE'].every((operation) =>
    rules.some(
      ({ apiGroups, apiVersions, operations, resources, scope = '*' }) =>
        has(apiGroups, group) &&
        has(apiVersions, version) &&
        has(operations, operation) &&
        has(resources, plural, '*/*') &&
        scope !== 'Cluster',
    ),
  );
}

function isEmpty(selector: ValidatingWebhook['objectSelector']): boolean {
  return !selector?.matchExpressions?.length && Object.keys(selector?.matchLabels ?? {}).length === 0;
}

function selects(
  { namespaceSelector = {} }: ValidatingWebhook,
  { name, labels }: WebhookCoverage['namespace'],
): boolean {
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector;
  const keys = [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
  // "Is not" and "does not exist" match whatever is not known.
  if (labels === undefined && keys.some((key) => key !== NAMESPACE_NAME)) return false;
  try {
    return labelSelector(namespaceSelector).matches({ ...labels, [NAMESPACE_NAME]: name });
  } catch {
    // An unknown form of selector: assume that authors are not reviewed.
    return false;
  }
}
