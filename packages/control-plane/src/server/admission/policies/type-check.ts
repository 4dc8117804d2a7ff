import type { ExpressionWarning, ValidatingAdmissionPolicy } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/machinery';
import type { ApiResource } from '../../registry/api-resource.ts';
import { syntaxProblem } from '../../registry/kinds/admissionregistration/expression-problems.ts';
import { policyEnvironment } from '../../registry/kinds/admissionregistration/policy-environment.ts';
import type { Registry } from '../../registry/registry.ts';
import { findParamKind } from './params.ts';
import { variableTypeOf } from './variable-types.ts';

type Spec = NonNullable<ValidatingAdmissionPolicy['spec']>;

const MAX_TYPES = 10;

/**
 * checkTypes compiles the expressions of a policy once more for every kind that its rules name, with the fields of that
 * kind: a misspelt field becomes a warning. Rules with wildcards are not checked. The CEL engine must be loaded.
 */
export function checkTypes(spec: Spec, registry: Registry): ExpressionWarning[] {
  const resources = resourcesToCheck(spec, registry);
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, index) => {
    const at = `spec.validations[${index}]`;
    return [
      ...warningAbout(`${at}.expression`, expression, spec, resources, registry),
      ...(messageExpression
        ? warningAbout(`${at}.messageExpression`, messageExpression, spec, resources, registry)
        : []),
    ];
  });
}

function warningAbout(
  fieldRef: string,
  expression: string,
  spec: Spec,
  resources: readonly ApiResource[],
  registry: Registry,
): ExpressionWarning[] {
  const texts = resources.flatMap((resource) => {
    const problem = problemFor(resource, expression, spec, registry);
    return problem === undefined ? [] : [`${kindText(resource)}: ${problem}\n`];
  });
  return texts.length === 0 ? [] : [{ fieldRef, warning: texts.join('\n') }];
}

function problemFor(
  resource: ApiResource,
  expression: string,
  { paramKind, variables = [] }: Spec,
  registry: Registry,
): string | undefined {
  const environment = policyEnvironment({
    object: variableTypeOf(resource),
    params: paramType(paramKind, registry),
    hasDefinitions: variables.length > 0,
  });
  for (const variable of variables) attempt(() => environment.define(variable.name, variable.expression));
  return attempt(() => environment.compile(expression));
}

/** attempt returns why an expression does not compile, or undefined. */
function attempt(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    return syntaxProblem(error);
  }
}

function paramType(paramKind: Spec['paramKind'], registry: Registry) {
  if (!paramKind) return undefined;
  const resource = findParamKind(registry, paramKind);
  return (resource && variableTypeOf(resource)) ?? 'dyn';
}

function kindText({ group, version, kind }: ApiResource): string {
  return `${group}/${version}, Kind=${kind}`;
}

function resourcesToCheck({ matchConstraints }: Spec, registry: Registry): readonly ApiResource[] {
  const found = new Set<ApiResource>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((each) => each.includes('*'))) continue;
    for (const group of apiGroups)
      for (const version of apiVersions)
        for (const name of resources) {
          const resource = registry.find(group, version, name);
          if (resource && variableTypeOf(resource)) found.add(resource);
        }
  }
  const order = ({ group, version, kind }: ApiResource): string => [group, version, kind].join('\u0000');
  return [...found].sort((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, MAX_TYPES);
}
