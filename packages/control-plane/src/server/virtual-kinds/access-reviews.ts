import type { NonResourceAttributes, SubjectAccessReviewSpec } from '@bowline/kubernetes';
import { type FieldProblem, quoteText } from '@bowline/machinery';
import type { UserInfo } from '../authentication/user-info.ts';
import type { Attributes, Authorizer } from '../authorization/authorizer.ts';
import type { ComputeContext, ComputeResponse, Draft } from '../registry/api-resource.ts';
import { invalid } from '../status/api-status.ts';
import { goJson, metadataProblems } from './review-metadata.ts';
import { selectorErrors, selectorProblems } from './review-selectors.ts';

const GROUP = 'authorization.k8s.io';

/** subjectAccessReview reports whether a user may do something. */
export function subjectAccessReview(authorizer: Authorizer): ComputeResponse {
  return (draft) => {
    const spec = specOf(draft);
    refuse([...specProblems(spec), ...userProblems(spec), ...metadataProblems(draft)]);
    return withStatus(authorizer, draft, spec, named(spec));
  };
}

/**
 * localSubjectAccessReview reports whether a user may do something in a namespace: rights in that namespace are enough
 * to ask.
 */
export function localSubjectAccessReview(authorizer: Authorizer): ComputeResponse {
  return (draft, { namespace }) => {
    const spec = specOf(draft);
    refuse([
      ...specProblems(spec),
      ...userProblems(spec),
      ...metadataProblems(draft, namespace),
      ...localProblems(spec, namespace),
    ]);
    return withStatus(authorizer, draft, spec, named(spec));
  };
}

/** selfSubjectAccessReview reports whether the requesting user may do something. */
export function selfSubjectAccessReview(authorizer: Authorizer): ComputeResponse {
  return (draft, { user }: ComputeContext) => {
    const spec = specOf(draft);
    refuse([...specProblems(spec), ...metadataProblems(draft)]);
    return withStatus(authorizer, draft, spec, user);
  };
}

function withStatus(authorizer: Authorizer, draft: Draft, spec: SubjectAccessReviewSpec, user: UserInfo): Draft {
  const { allowed, reason } = authorizer.authorize(user, attributesOf(spec));
  const evaluationError = selectorErrors(spec.resourceAttributes) || undefined;
  return { ...draft, status: { allowed, reason: reason || undefined, evaluationError } };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec): Attributes {
  if (!resourceAttributes) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { isResource: false, path, verb };
  }
  const { verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes;
  return { isResource: true, verb, group, resource, subresource, namespace, name };
}

function named({ user = '', uid, groups = [], extra }: SubjectAccessReviewSpec): UserInfo {
  return { username: user, uid, groups, extra };
}

function specOf(draft: Draft): SubjectAccessReviewSpec {
  // Decoding checked the schema of the kind; a missing spec is an empty one.
  return draft.spec ?? {};
}

function refuse(problems: readonly FieldProblem[]): void {
  // The API server reports no kind here.
  if (problems.length > 0) throw invalid({ group: GROUP, kind: '' }, '', problems);
}

function specProblems({ resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec): FieldProblem[] {
  if (resourceAttributes && nonResourceAttributes)
    return [
      wrong(
        'spec.nonResourceAttributes',
        pathText(nonResourceAttributes),
        'cannot be specified in combination with resourceAttributes',
      ),
    ];
  if (!resourceAttributes && !nonResourceAttributes)
    return [
      wrong(
        'spec.resourceAttributes',
        'null',
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    ];
  return resourceAttributes ? selectorProblems(resourceAttributes) : [];
}

function userProblems({ user = '', groups = [] }: SubjectAccessReviewSpec): FieldProblem[] {
  return user === '' && groups.length === 0
    ? [wrong('spec.user', '""', 'at least one of user or group must be specified')]
    : [];
}

function localProblems(
  { resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec,
  namespace: string,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { namespace: requestedNamespace = '' } = resourceAttributes ?? {};
  if (resourceAttributes && requestedNamespace !== namespace)
    problems.push(
      wrong('spec.resourceAttributes.namespace', quoteText(requestedNamespace), 'must match metadata.namespace'),
    );
  if (nonResourceAttributes)
    problems.push(
      wrong('spec.nonResourceAttributes', pathText(nonResourceAttributes), 'disallowed on this kind of request'),
    );
  return problems;
}

function pathText({ path = '', verb = '' }: NonResourceAttributes): string {
  return goJson({ Path: path, Verb: verb });
}

function wrong(field: string, value: string, detail: string): FieldProblem {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${detail}` };
}
