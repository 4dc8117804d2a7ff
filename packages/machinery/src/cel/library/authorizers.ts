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

/** The cost of one authorization check: the API server allows two per expression. */
const AUTHORIZATION_STEPS = 350_000;

function serviceAccount({ authorizer }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (dnsSubdomainProblems(name).length > 0) throw new CelFailure('Invalid service account name');
  if (dnsLabelProblems(namespace).length > 0) throw new CelFailure('Invalid service account namespace');
  return new AuthorizerValue(authorizer, { namespace, name });
}

function requireNonEmpty(text: string, what: string): string {
  if (text.trim() === '') throw new CelFailure(`${what} must not be empty`);
  return text;
}

/** Selectors could only restrict a permission, and the authorizer used here does not support them. */
function ignoreSelector(check: ResourceCheckValue): ResourceCheckValue {
  return check;
}

function checkPath(this: Meter, { authorizerValue, path }: PathCheckValue, verb: string): DecisionValue {
  this.spend(AUTHORIZATION_STEPS);
  return authorizerValue.decide({ isResource: false, verb, path });
}

function checkResource(
  this: Meter,
  { authorizerValue, resourceAttributes }: ResourceCheckValue,
  verb: string,
): DecisionValue {
  this.spend(AUTHORIZATION_STEPS);
  return authorizerValue.decide({ isResource: true, verb, ...resourceAttributes });
}

/** authorizers holds the functions that check permissions. */
export const authorizers = [
  overload('authorizer.serviceAccount(string, string): authorizer', serviceAccount),
  overload(
    'authorizer.path(string): pathCheck',
    (authorizerValue: AuthorizerValue, path: string) =>
      new PathCheckValue(authorizerValue, requireNonEmpty(path, 'path')),
  ),
  overload('pathCheck.check(string): decision', checkPath),
  overload(
    'authorizer.group(string): groupCheck',
    (authorizerValue: AuthorizerValue, group: string) => new GroupCheckValue(authorizerValue, group),
  ),
  overload(
    'groupCheck.resource(string): resourceCheck',
    ({ authorizerValue, group }: GroupCheckValue, resource: string) => {
      const resourceAttributes = {
        group,
        resource: requireNonEmpty(resource, 'resource'),
        subresource: '',
        namespace: '',
        name: '',
      };
      return new ResourceCheckValue(authorizerValue, resourceAttributes);
    },
  ),
  overload('resourceCheck.subresource(string): resourceCheck', (check: ResourceCheckValue, subresource: string) =>
    check.with({ subresource }),
  ),
  overload('resourceCheck.namespace(string): resourceCheck', (check: ResourceCheckValue, namespace: string) =>
    check.with({ namespace }),
  ),
  overload('resourceCheck.name(string): resourceCheck', (check: ResourceCheckValue, name: string) =>
    check.with({ name }),
  ),
  overload('resourceCheck.fieldSelector(string): resourceCheck', ignoreSelector),
  overload('resourceCheck.labelSelector(string): resourceCheck', ignoreSelector),
  overload('resourceCheck.check(string): decision', checkResource),
  overload('decision.allowed(): bool', ({ decision }: DecisionValue) => decision.allowed),
  overload('decision.reason(): string', ({ decision }: DecisionValue) => decision.reason),
  // The authorizer used here always reaches a decision.
  overload('decision.errored(): bool', () => false),
  overload('decision.error(): string', () => ''),
];
