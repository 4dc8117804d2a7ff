import type { MatchResources, NamedRuleWithOperations } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import { namePathProblems } from '../../names.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { duplicate, invalids, notSupported } from '../shared/problems.ts';
import { selectorProblems } from '../shared/scheduling-problems.ts';
import { ruleProblems } from './rule-problems.ts';

const MATCH_POLICIES = ['Equivalent', 'Exact'];

/** defaultMatchResources sets the defaults of the requests that a policy or a binding matches. */
export function defaultMatchResources(match: PartialObject<MatchResources> | undefined): void {
  if (!match) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*';
}

/** matchResourcesProblems validates the requests that a policy or a binding matches. */
export function matchResourcesProblems(at: string, match: PartialObject<MatchResources>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { matchPolicy, resourceRules = [], excludeResourceRules = [] } = match;
  if (matchPolicy !== undefined && !MATCH_POLICIES.includes(matchPolicy))
    problems.push(notSupported(`${at}.matchPolicy`, matchPolicy, MATCH_POLICIES));
  for (const name of ['namespaceSelector', 'objectSelector'] as const)
    problems.push(...selectorProblems(`${at}.${name}`, match[name]));
  resourceRules.forEach((rule, index) => {
    problems.push(...namedRuleProblems(`${at}.resourceRules[${index}]`, rule));
  });
  excludeResourceRules.forEach((rule, index) => {
    problems.push(...namedRuleProblems(`${at}.excludeResourceRules[${index}]`, rule));
  });
  return problems;
}

function namedRuleProblems(at: string, rule: PartialObject<NamedRuleWithOperations>): FieldProblem[] {
  const names = new Set<string>();
  const problems = (rule.resourceNames ?? []).flatMap((name, index) => {
    const field = `${at}.resourceNames[${index}]`;
    const isDuplicate = names.has(name);
    names.add(name);
    return [...invalids(field, name, namePathProblems(name)), ...(isDuplicate ? [duplicate(field, name)] : [])];
  });
  return [...problems, ...ruleProblems(at, rule)];
}
