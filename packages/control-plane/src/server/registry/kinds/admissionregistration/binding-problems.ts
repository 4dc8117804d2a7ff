import type { ParamRef, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import { dnsSubdomainProblems, type FieldProblem } from '@bowline/machinery';
import { namePathProblems } from '../../names.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { duplicate, forbidden, invalid, invalids, notSupported, required } from '../shared/problems.ts';
import { selectorProblems } from '../shared/scheduling-problems.ts';
import { matchResourcesProblems } from './match-resources-problems.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];

/** bindingProblems validates the binding of a policy. */
export function bindingProblems({ spec = {} }: PartialObject<ValidatingAdmissionPolicyBinding>): FieldProblem[] {
  const { policyName = '', paramRef, matchResources, validationActions = [] } = spec;
  return [
    ...(policyName === ''
      ? [required('spec.policyName')]
      : invalids('spec.policyName', policyName, dnsSubdomainProblems(policyName))),
    ...(paramRef ? paramRefProblems('spec.paramRef', paramRef) : []),
    ...(matchResources ? matchResourcesProblems('spec.matchResources', matchResources) : []),
    ...actionProblems('spec.validationActions', validationActions),
  ];
}

function paramRefProblems(at: string, paramRef: PartialObject<ParamRef>): FieldProblem[] {
  const { name = '', selector, parameterNotFoundAction: action = '' } = paramRef;
  const exclusive = 'name and selector are mutually exclusive';
  const problems: FieldProblem[] = [];
  if (name !== '') {
    problems.push(...invalids(`${at}.name`, name, namePathProblems(name)));
    if (selector) problems.push(forbidden(`${at}.name`, exclusive));
  }
  if (selector) {
    problems.push(...selectorProblems(`${at}.selector`, selector));
    if (name !== '') problems.push(forbidden(`${at}.selector`, exclusive));
  }
  if (name === '' && !selector) problems.push(required(at, 'one of name or selector must be specified'));
  const field = `${at}.parameterNotFoundAction`;
  if (action === '') problems.push(required(field));
  else if (!NOT_FOUND_ACTIONS.includes(action)) problems.push(notSupported(field, action, NOT_FOUND_ACTIONS));
  return problems;
}

function actionProblems(at: string, actions: readonly string[]): FieldProblem[] {
  const seen = new Set<string>();
  const problems = actions.flatMap((action, index) => {
    const field = `${at}[${index}]`;
    const isDuplicate = seen.has(action);
    seen.add(action);
    return [
      ...(ACTIONS.includes(action) ? [] : [notSupported(field, action, ACTIONS)]),
      ...(isDuplicate ? [duplicate(field, action)] : []),
    ];
  });
  if (seen.has('Deny') && seen.has('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and ' +
      'headers serves no purpose)';
    problems.push(invalid(at, actions, detail));
  }
  if (actions.length === 0) problems.push(required(at, 'at least one validation action is required'));
  return problems;
}
