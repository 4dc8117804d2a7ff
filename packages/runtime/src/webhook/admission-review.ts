import type { KubernetesObject, StatusCause, UserInfo } from '@bowline/kubernetes';
import { isObject } from '@bowline/machinery';
import { HttpProblem } from './http-problem.ts';

/** Operation is the operation performed on an object. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** GroupVersionKind identifies a kind in a review. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** GroupVersionResource identifies a resource in a review. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** ReviewRequest is the request of an AdmissionReview as sent by the API server. */
export interface ReviewRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string | undefined;
  /** Empty if the name is still to be generated. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  readonly object?: KubernetesObject | undefined;
  readonly oldObject?: KubernetesObject | undefined;
  readonly dryRun?: boolean | undefined;
  readonly options?: unknown;
}

/** ReviewResponse is the response of an AdmissionReview. */
export interface ReviewResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: ReviewStatus | undefined;
  /** A JSON patch in base64. */
  readonly patch?: string | undefined;
  readonly patchType?: 'JSONPatch' | undefined;
  readonly warnings?: readonly string[] | undefined;
}

/** ReviewStatus explains why a request is denied; the API server returns it to the user. */
export interface ReviewStatus {
  readonly status: 'Failure';
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: { readonly causes: readonly StatusCause[] } | undefined;
}

const VERSION = 'admission.k8s.io/v1';
const OPERATIONS: ReadonlySet<unknown> = new Set<Operation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** decodeReview parses an AdmissionReview v1 and rejects everything else with a message that explains the problem. */
export function decodeReview(text: string): ReviewRequest {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    throw bad('the body is not JSON');
  }
  if (!isObject(review)) throw bad('the body is not a JSON object');
  const { apiVersion, kind, request } = review;
  if (kind !== 'AdmissionReview') throw bad(`the body is of kind ${displayed(kind)}, not AdmissionReview`);
  if (apiVersion !== VERSION)
    throw bad(`the review is of version ${displayed(apiVersion)}, but only ${VERSION} is supported`);
  if (!isObject(request)) throw bad('the review has no request');
  const { uid, operation, userInfo, object, oldObject } = request;
  if (typeof uid !== 'string' || uid === '') throw bad('the request has no uid');
  if (!OPERATIONS.has(operation)) throw bad(`the request's operation ${displayed(operation)} is unknown`);
  if (!hasNames(request.kind, 'kind')) throw bad("the request's kind is incomplete");
  if (!hasNames(request.resource, 'resource')) throw bad("the request's resource is incomplete");
  if (!isObject(userInfo)) throw bad('the request has no userInfo');
  if ((operation === 'CREATE' || operation === 'UPDATE') && !isObject(object)) throw bad('the request has no object');
  if ((operation === 'UPDATE' || operation === 'DELETE') && !isObject(oldObject))
    throw bad('the request has no oldObject');
  // All members that the code relies on were checked above; the others are optional and set by the API server.
  return request as unknown as ReviewRequest;
}

/** encodeReview returns the body of a response. */
export function encodeReview(response: ReviewResponse): object {
  return { apiVersion: VERSION, kind: 'AdmissionReview', response };
}

function bad(problem: string): HttpProblem {
  return new HttpProblem(400, `${problem}; send an AdmissionReview of ${VERSION}, as the API server does`);
}

function hasNames(value: unknown, last: string): boolean {
  return isObject(value) && ['group', 'version', last].every((name) => typeof value[name] === 'string');
}

/** The text is returned to the caller: it quotes only short values of simple types. */
function displayed(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : `of type ${typeof value}`;
}
