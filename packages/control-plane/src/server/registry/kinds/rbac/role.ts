import type { ClusterRole, PolicyRule, Role } from '@bowline/kubernetes';
import { type FieldProblem, validateLabelSelector } from '@bowline/machinery';
import type { KindRules } from '../../built-in-strategy.ts';
import { as, CREATED_AT } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalid, required } from '../shared/problems.ts';

/** roleRules validates the permissions of a Role. */
export const roleRules: KindRules = {
  applyDefaults(object) {
    object.rules ??= null;
  },
  validate: (object) => rulesProblems(as<Role>(object).rules, true),
  columns: [CREATED_AT],
};

/** clusterRoleRules validates the permissions of a ClusterRole, and its aggregation of other ClusterRoles. */
export const clusterRoleRules: KindRules = {
  applyDefaults(object) {
    object.rules ??= null;
  },
  validate(object) {
    const { rules, aggregationRule } = as<ClusterRole>(object);
    const problems = rulesProblems(rules, false);
    if (!aggregationRule) return problems;
    const selectors = aggregationRule.clusterRoleSelectors ?? [];
    const field = 'aggregationRule.clusterRoleSelectors';
    if (selectors.length === 0)
      return [...problems, required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
    for (const [index, selector] of selectors.entries()) {
      // Validated as received: a missing field selects everything.
      const found = validateLabelSelector(
        selector as Parameters<typeof validateLabelSelector>[0],
        `${field}[${index}]`,
      );
      problems.push(...found);
      if (found.length > 0) problems.push(invalid(`${field}[${index}]`, null, 'invalid label selector.'));
    }
    return problems;
  },
  columns: [CREATED_AT],
};

function rulesProblems(
  rules: readonly PartialObject<PolicyRule>[] | null | undefined,
  isNamespaced: boolean,
): FieldProblem[] {
  return (rules ?? []).flatMap((rule, index) => ruleProblems(`rules[${index}]`, rule, isNamespaced));
}

function ruleProblems(at: string, rule: PartialObject<PolicyRule>, isNamespaced: boolean): FieldProblem[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const problems: FieldProblem[] = [];
  if (verbs.length === 0) problems.push(required(`${at}.verbs`, 'verbs must contain at least one value'));
  if (nonResourceURLs.length > 0) {
    const refuse = (detail: string): number => problems.push(invalid(`${at}.nonResourceURLs`, nonResourceURLs, detail));
    if (isNamespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (apiGroups.length + resources.length + resourceNames.length > 0)
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    return problems;
  }
  if (apiGroups.length === 0)
    problems.push(required(`${at}.apiGroups`, 'resource rules must supply at least one api group'));
  if (resources.length === 0)
    problems.push(required(`${at}.resources`, 'resource rules must supply at least one resource'));
  return problems;
}
