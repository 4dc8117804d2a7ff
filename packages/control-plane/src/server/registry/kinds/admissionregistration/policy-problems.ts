import type { AuditAnnotation, ParamKind, ValidatingAdmissionPolicy, Validation, Variable } from '@bowline/kubernetes';
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  type FieldProblem,
  isSameJson,
  labelKeyProblems,
} from '@bowline/machinery';
import type { CelEnvironment } from '@bowline/machinery/cel';
import type { PartialObject } from '../shared/partial-object.ts';
import { duplicate, invalid, invalids, notSupported, required } from '../shared/problems.ts';
import { ANY_TYPE, expressionProblems } from './expression-problems.ts';
import { matchConditionProblems } from './match-condition-problems.ts';
import { matchResourcesProblems } from './match-resources-problems.ts';
import { NO_AUTHORIZER, policyEnvironment } from './policy-environment.ts';

type Policy = PartialObject<ValidatingAdmissionPolicy>;

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
const LINE_BREAK = /[\n\r]/;

/** policyProblems validates a policy. Unchanged match conditions are not validated again. */
export function policyProblems({ metadata, spec = {} }: Policy, old: Policy | undefined): FieldProblem[] {
  const { failurePolicy = '', paramKind, matchConstraints, matchConditions = [] } = spec;
  const { variables = [], validations = [], auditAnnotations = [] } = spec;
  const problems: FieldProblem[] = [];
  if (!FAILURE_POLICIES.includes(failurePolicy))
    problems.push(notSupported('spec.failurePolicy', failurePolicy, FAILURE_POLICIES));
  if (paramKind) problems.push(...paramKindProblems('spec.paramKind', paramKind));
  if (!matchConstraints) problems.push(required('spec.matchConstraints'));
  else {
    problems.push(...matchResourcesProblems('spec.matchConstraints', matchConstraints));
    if ((matchConstraints.resourceRules ?? []).length === 0)
      problems.push(required('spec.matchConstraints.resourceRules'));
  }
  const hasParams = paramKind !== undefined;
  if (!old || !isSameJson(matchConditions, old.spec?.matchConditions ?? []))
    problems.push(...matchConditionProblems('spec.matchConditions', matchConditions, { hasParams }));

  const environment = policyEnvironment({
    params: hasParams ? 'dyn' : undefined,
    hasDefinitions: variables.length > 0,
  });
  variables.forEach((variable, index) => {
    problems.push(...variableProblems(`spec.variables[${index}]`, variable, environment));
  });
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    return [...problems, required('spec.validations', detail), required('spec.auditAnnotations', detail)];
  }
  validations.forEach((validation, index) => {
    problems.push(...validationProblems(`spec.validations[${index}]`, validation, environment));
  });
  problems.push(...annotationsProblems('spec.auditAnnotations', auditAnnotations, metadata?.name ?? '', environment));
  return problems;
}

function paramKindProblems(at: string, { apiVersion = '', kind = '' }: PartialObject<ParamKind>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const field = `${at}.apiVersion`;
  const parts = apiVersion.split('/');
  const [group, version = ''] = parts.length === 1 ? ['', apiVersion] : parts;
  if (apiVersion === '') problems.push(required(field));
  else if (parts.length > 2) problems.push(invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else {
    const wrongGroup = group ? dnsSubdomainProblems(group) : [];
    if (wrongGroup.length > 0) problems.push(invalid(field, group, wrongGroup.join(',')));
    const wrongVersion = dns1035LabelProblems(version);
    if (version === '') problems.push(invalid(field, apiVersion, 'version must be specified'));
    else if (wrongVersion.length > 0) problems.push(invalid(field, version, wrongVersion.join(',')));
  }
  const wrongKind = dns1035LabelProblems(kind.toLowerCase());
  if (kind === '') problems.push(required(`${at}.kind`));
  else if (wrongKind.length > 0) {
    const detail = `may have mixed case, but should otherwise match: ${wrongKind.join(',')}`;
    problems.push(invalid(`${at}.kind`, kind, detail));
  }
  return problems;
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const RESERVED = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var void ' +
    'while'
  ).split(' '),
);

function variableProblems(
  at: string,
  { name = '', expression = '' }: PartialObject<Variable>,
  environment: CelEnvironment,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (name.trim() === '') problems.push(required(`${at}.name`, 'name is not specified'));
  else if (!IDENTIFIER.test(name) || RESERVED.has(name))
    problems.push(invalid(`${at}.name`, name, 'must be a valid CEL identifier'));
  const field = `${at}.expression`;
  if (expression.trim() === '') return [...problems, required(field, 'expression is not specified')];
  return [...problems, ...expressionProblems(field, expression, ANY_TYPE, () => environment.define(name, expression))];
}

function validationProblems(
  at: string,
  { expression = '', message = '', messageExpression = '', reason }: PartialObject<Validation>,
  environment: CelEnvironment,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (expression.trim() === '') problems.push(required(`${at}.expression`, 'expression is not specified'));
  else
    problems.push(
      ...expressionProblems(`${at}.expression`, expression, ['bool'], () => environment.compile(expression)),
    );
  if (messageExpression !== '' && messageExpression.trim() === '')
    problems.push(invalid(`${at}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  else if (messageExpression !== '')
    problems.push(
      ...expressionProblems(`${at}.messageExpression`, messageExpression, ['string'], () =>
        environment.compile(messageExpression, NO_AUTHORIZER),
      ),
    );
  if (message !== '' && message.trim() === '')
    problems.push(invalid(`${at}.message`, message, 'must be non-empty if specified'));
  else if (LINE_BREAK.test(message.trim()))
    problems.push(invalid(`${at}.message`, message, 'must not contain line breaks'));
  if (reason !== undefined && !REASONS.includes(reason)) problems.push(notSupported(`${at}.reason`, reason, REASONS));
  return problems;
}

function annotationsProblems(
  at: string,
  annotations: readonly PartialObject<AuditAnnotation>[],
  policy: string,
  environment: CelEnvironment,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (annotations.length > MAX_ANNOTATIONS) {
    const value = annotations.map(({ key = '', valueExpression = '' }) => ({
      Key: key,
      ValueExpression: valueExpression,
    }));
    problems.push(invalid(at, value, `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`));
  }
  const keys = new Set<string>();
  annotations.forEach(({ key = '', valueExpression = '' }, index) => {
    const here = `${at}[${index}]`;
    const name = `${policy}/${key}`;
    if (policy === '') problems.push(invalid(`${here}.key`, key, 'requires metadata.name be non-empty'));
    else problems.push(...invalids(`${here}.key`, name, labelKeyProblems(name)));
    problems.push(...valueExpressionProblems(`${here}.valueExpression`, valueExpression, environment));
    if (keys.has(key)) problems.push(duplicate(`${here}.key`, key));
    keys.add(key);
  });
  return problems;
}

function valueExpressionProblems(field: string, expression: string, environment: CelEnvironment): FieldProblem[] {
  const source = expression.trim();
  if (source === '') return [required(field, 'valueExpression is not specified')];
  if (Buffer.byteLength(source) > MAX_VALUE_EXPRESSION_BYTES)
    return [required(field, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`)];
  return expressionProblems(field, expression, ['string', 'null_type'], () => environment.compile(source));
}
