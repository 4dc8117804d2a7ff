import type { LabelSelector, LabelSelectorRequirement } from '@bowline/kubernetes';

/** NAMESPACE_NAME is the label of every namespace with its name. The API server sets it, and no user can change it. */
export const NAMESPACE_NAME = 'kubernetes.io/metadata.name';

/** requireNamespaces returns a namespace selector that also requires one of these namespaces. */
export function requireNamespaces(selector: LabelSelector = {}, namespaces: readonly string[]): LabelSelector {
  return withRequirement(selector, { key: NAMESPACE_NAME, operator: 'In', values: [...namespaces].sort() });
}

/** excludeNamespace returns a namespace selector that also excludes a namespace. */
export function excludeNamespace(selector: LabelSelector, namespace: string): LabelSelector {
  return withRequirement(selector, { key: NAMESPACE_NAME, operator: 'NotIn', values: [namespace] });
}

function withRequirement(selector: LabelSelector, requirement: LabelSelectorRequirement): LabelSelector {
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), requirement] };
}
