import type { RuleWithOperations } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalid, notSupported, required } from '../shared/problems.ts';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** ruleProblems validates a rule that selects the requests of a webhook. */
export function ruleProblems(at: string, rule: PartialObject<RuleWithOperations>): FieldProblem[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const problems: FieldProblem[] = [];
  if (operations.length === 0) problems.push(required(`${at}.operations`));
  problems.push(...aloneProblems(`${at}.operations`, operations, 'operations'));
  for (const [index, operation] of operations.entries())
    if (!OPERATIONS.includes(operation))
      problems.push(notSupported(`${at}.operations[${index}]`, operation, OPERATIONS));
  if (apiGroups.length === 0) problems.push(required(`${at}.apiGroups`));
  problems.push(...aloneProblems(`${at}.apiGroups`, apiGroups, 'API groups'));
  if (apiVersions.length === 0) problems.push(required(`${at}.apiVersions`));
  problems.push(...aloneProblems(`${at}.apiVersions`, apiVersions, 'API versions'));
  problems.push(...emptyProblems(`${at}.apiVersions`, apiVersions));
  if (resources.length === 0) problems.push(required(`${at}.resources`));
  problems.push(...resourceProblems(`${at}.resources`, resources));
  if (scope !== undefined && !SCOPES.includes(scope)) problems.push(notSupported(`${at}.scope`, scope, SCOPES));
  return problems;
}

function aloneProblems(field: string, values: readonly string[], what: string): FieldProblem[] {
  return values.length > 1 && values.includes('*')
    ? [invalid(field, values, `if '*' is present, must not specify other ${what}`)]
    : [];
}

function emptyProblems(field: string, values: readonly string[]): FieldProblem[] {
  return values.flatMap((value, index) => (value === '' ? [required(`${field}[${index}]`)] : []));
}

/** Resources that a wildcard covers must not be listed. */
function resourceProblems(field: string, resources: readonly string[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const whole = new Set<string>();
  const parts = new Set<string>();
  for (const [index, resource] of resources.entries()) {
    const at = `${field}[${index}]`;
    if (resource === '') {
      problems.push(required(at));
      continue;
    }
    const [name = '', part] = resource.split(/\/(.*)/s, 2);
    if (whole.has(name) && part !== undefined)
      problems.push(invalid(at, resource, `if '${name}/*' is present, must not specify ${resource}`));
    if (part !== undefined && parts.has(part))
      problems.push(invalid(at, resource, `if '*/${part}' is present, must not specify ${resource}`));
    if (part === '*') whole.add(name);
    if (name === '*' && part !== undefined) parts.add(part);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    problems.push(invalid(field, resources, "if '*/*' is present, must not specify other resources"));
  const others = resources.filter((resource) => !resource.includes('/'));
  if (others.length > 1 && resources.includes('*'))
    problems.push(
      invalid(field, resources, "if '*' is present, must not specify other resources without subresources"),
    );
  return problems;
}
