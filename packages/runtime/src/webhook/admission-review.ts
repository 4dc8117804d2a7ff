import type { KubernetesObject, StatusCause, UserInfo } from '@bowline/kubernetes';
import { isObject } from '@bowline/machinery';
import { HttpProblem } from './http-problem.ts';

/** Operation is what is being done to an object. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** GroupVersionKind names a kind as a review does. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** GroupVersionResource names a resource as a review does. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** ReviewRequest is the question of an AdmissionReview, as it comes over the wire. */
export interface ReviewRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string | undefined;
  /** Empty when the name is still to be generated. */
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly operation: Operation;
  readonly userInfo: UserInfo;
  readonly object?: KubernetesObject | undefined;
  readonly oldObject?: KubernetesObject | undefined;
  readonly dryRun?: boolean | undefined;
  readonly options?: unknown;
}

/** ReviewResponse is the answer of an AdmissionReview. */
export interface ReviewResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: ReviewStatus | undefined;
  /** A JSON patch in base64. */
  readonly patch?: string | undefined;
  readonly patchType?: 'JSONPatch' | undefined;
  readonly warnings?: readonly string[] | undefined;
}

/** ReviewStatus says why a request is refused; the API server passes it on to its user. */
export interface ReviewStatus {
  readonly status: 'Failure';
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: { readonly causes: readonly StatusCause[] } | undefined;
}

const VERSION = 'admission.k8s.io/v1';
const OPERATIONS: ReadonlySet<unknown> = new Set<Operation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** decodeReview reads an AdmissionReview v1 and refuses, with a text that says what is wrong, everything else. */
export function decodeReview(text: string): ReviewRequest {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    throw bad('the body is not JSON');
  }
  if (!isObject(review)) throw bad('the body is not a JSON object');
  const { apiVersion, kind, request } = review;
  if (kind !== 'AdmissionReview') throw bad(`the body is of kind ${shown(kind)}, not AdmissionReview`);
  if (apiVersion !== VERSION)
    throw bad(`the review is of version ${shown(apiVersion)}, and only ${VERSION} is understood`);
  if (!isObject(request)) throw bad('the review has no request');
  const { uid, operation, userInfo, object, oldObject } = request;
  if (typeof uid !== 'string' || uid === '') throw bad('the request has no uid');
  if (!OPERATIONS.has(operation)) throw bad(`the request's operation ${shown(operation)} is unknown`);
  if (!hasNames(request.kind, 'kind')) throw bad("the request's kind is incomplete");
  if (!hasNames(request.resource, 'resource')) throw bad("the request's resource is incomplete");
  if (!isObject(userInfo)) throw bad('the request has no userInfo');
  if ((operation === 'CREATE' || operation === 'UPDATE') && !isObject(object)) throw bad('the request has no object');
  if ((operation === 'UPDATE' || operation === 'DELETE') && !isObject(oldObject))
    throw bad('the request has no oldObject');
  // Every member that code relies on was looked at above; the others are optional, and the API server's own.
  return request as unknown as ReviewRequest;
}

/** encodeReview is the body of an answer. */
export function encodeReview(response: ReviewResponse): object {
  return { apiVersion: VERSION, kind: 'AdmissionReview', response };
}

function bad(problem: string): HttpProblem {
  return new HttpProblem(400, `${problem}; send an AdmissionReview of ${VERSION}, as the API server does`);
}

function hasNames(value: unknown, last: string): boolean {
  return isObject(value) && ['group', 'version', last].every((name) => typeof value[name] === 'string');
}

/** The text goes back to the caller: it quotes what is short and of a simple type, nothing else. */
function shown(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : `of type ${typeof value}`;
}
