import { dnsLabelProblems, dnsSubdomainProblems } from '../../validation/dns-names.ts';
import {
  AuthorizerValue,
  type DecisionValue,
  GroupCheckValue,
  PathCheckValue,
  ResourceCheckValue,
} from '../authorizer-values.ts';
import type { Meter } from '../frame.ts';
import { overload } from '../overloads.ts';
import { CelFailure } from '../values.ts';

/** The cost of one authorization check: the API server allows seven. */
const QUESTION_STEPS = 140_000;

function serviceAccount({ authorizer }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (dnsSubdomainProblems(name).length > 0) throw new CelFailure('Invalid service account name');
  if (dnsLabelProblems(namespace).length > 0) throw new CelFailure('Invalid service account namespace');
  return new AuthorizerValue(authorizer, { namespace, name });
}

function notEmpty(text: string, what: string): string {
  if (text.trim() === '') throw new CelFailure(`${what} must not be empty`);
  return text;
}

/** Selectors could only restrict a permission, and the authorizer used here does not support them. */
function selected(check: ResourceCheckValue): ResourceCheckValue {
  return check;
}

function checkPath(this: Meter, { asked, path }: PathCheckValue, verb: string): DecisionValue {
  this.spend(QUESTION_STEPS);
  return asked.decide({ isResource: false, verb, path });
}

function checkResource(this: Meter, { asked, about }: ResourceCheckValue, verb: string): DecisionValue {
  this.spend(QUESTION_STEPS);
  return asked.decide({ isResource: true, verb, ...about });
}

/** authorizers holds the functions that check permissions. */
export const authorizers = [
  overload('authorizer.serviceAccount(string, string): authorizer', serviceAccount),
  overload(
    'authorizer.path(string): pathCheck',
    (asked: AuthorizerValue, path: string) => new PathCheckValue(asked, notEmpty(path, 'path')),
  ),
  overload('pathCheck.check(string): decision', checkPath),
  overload(
    'authorizer.group(string): groupCheck',
    (asked: AuthorizerValue, group: string) => new GroupCheckValue(asked, group),
  ),
  overload('groupCheck.resource(string): resourceCheck', ({ asked, group }: GroupCheckValue, resource: string) => {
    const about = { group, resource: notEmpty(resource, 'resource'), subresource: '', namespace: '', name: '' };
    return new ResourceCheckValue(asked, about);
  }),
  overload('resourceCheck.subresource(string): resourceCheck', (check: ResourceCheckValue, subresource: string) =>
    check.with({ subresource }),
  ),
  overload('resourceCheck.namespace(string): resourceCheck', (check: ResourceCheckValue, namespace: string) =>
    check.with({ namespace }),
  ),
  overload('resourceCheck.name(string): resourceCheck', (check: ResourceCheckValue, name: string) =>
    check.with({ name }),
  ),
  overload('resourceCheck.fieldSelector(string): resourceCheck', selected),
  overload('resourceCheck.labelSelector(string): resourceCheck', selected),
  overload('resourceCheck.check(string): decision', checkResource),
  overload('decision.allowed(): bool', ({ decision }: DecisionValue) => decision.allowed),
  overload('decision.reason(): string', ({ decision }: DecisionValue) => decision.reason),
  // The authorizer used here always reaches a decision.
  overload('decision.errored(): bool', () => false),
  overload('decision.error(): string', () => ''),
];
