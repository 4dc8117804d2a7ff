import {
  apiVersionOf,
  type ObjectKey,
  type Resource,
  SelfSubjectAccessReview,
  ServiceAccount,
  SubjectAccessReview,
} from '@bowline/kubernetes';
import { LocalSubjectAccessReview } from '@bowline/kubernetes/authorization-v1';
import type { Caller } from './caller.ts';
import type {
  AccessQuestion,
  PathQuestion,
  RequestOptions,
  ReviewOptions,
  Subject,
  TokenRequestOptions,
} from './client.ts';
import { collectionPath, objectPath } from './paths.ts';

/** Every kind of these groups is a question to the API server. */
const REVIEW_GROUPS: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/**
 * isReview reports whether the objects of a kind are reviews, such as a TokenReview. The API server answers them and
 * stores nothing, so creating one is not a write: replicas that do not lead may do it.
 */
export function isReview({ group }: Pick<Resource, 'group'>): boolean {
  return REVIEW_GROUPS.has(group);
}

/** requestToken issues a token for a ServiceAccount. It stores nothing, so no guard is called. */
export async function requestToken(
  caller: Caller,
  serviceAccount: ObjectKey,
  options: TokenRequestOptions = {},
): Promise<{ token: string; expirationTimestamp: string }> {
  const { audiences, expirationSeconds, boundObject } = options;
  const response = await caller.json<{ status: { token: string; expirationTimestamp: string } }>({
    apiRequest: {
      verb: 'create',
      resource: ServiceAccount,
      subresource: 'token',
      key: serviceAccount,
      path: objectPath(ServiceAccount, serviceAccount, 'token'),
    },
    method: 'POST',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: audiences ?? [], expirationSeconds, boundObjectRef: boundObject },
    },
    write: false,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
  });
  return { token: response.status.token, expirationTimestamp: response.status.expirationTimestamp };
}

/** canI reviews the access of the caller's own identity. */
export function canI(
  caller: Caller,
  question: AccessQuestion | PathQuestion,
  options?: RequestOptions,
): Promise<AccessReviewResult> {
  return createReview(caller, SelfSubjectAccessReview, attributes(question), options);
}

/** canSubject reviews the access of another subject. */
export function canSubject(
  caller: Caller,
  subject: Subject,
  question: AccessQuestion | PathQuestion,
  options: ReviewOptions = {},
): Promise<AccessReviewResult> {
  const { user, groups, uid, extra } = subject;
  const spec = { user, groups, uid, extra, ...attributes(question) };
  if (!options.local) return createReview(caller, SubjectAccessReview, spec, options);
  const namespace = 'path' in question ? '' : (question.namespace ?? '');
  return createReview(caller, LocalSubjectAccessReview, spec, { ...options, namespace });
}

interface AccessReviewResult {
  allowed: boolean;
  reason?: string;
}

async function createReview(
  caller: Caller,
  kind: Resource,
  spec: object,
  options: RequestOptions & { readonly namespace?: string } = {},
): Promise<AccessReviewResult> {
  const { namespace } = options;
  const path = collectionPath(kind, namespace);
  const response = await caller.json<{ status?: { allowed?: boolean; reason?: string } }>({
    apiRequest: { verb: 'create', resource: kind, namespace, path },
    method: 'POST',
    body: { apiVersion: apiVersionOf(kind), kind: kind.kind, ...(namespace ? { metadata: { namespace } } : {}), spec },
    write: false,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
  });
  const { allowed = false, reason } = response.status ?? {};
  return reason ? { allowed, reason } : { allowed };
}

function attributes(question: AccessQuestion | PathQuestion): object {
  if ('path' in question) return { nonResourceAttributes: question };
  return { resourceAttributes: { ...question, group: question.group ?? '' } };
}
