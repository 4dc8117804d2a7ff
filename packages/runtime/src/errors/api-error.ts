import {
  keyString,
  type ObjectKey,
  type Resource,
  type Status,
  type StatusCause,
  type StatusDetails,
} from '@bowline/kubernetes';
import { BowlineError } from './bowline-error.ts';

/** ApiRequest describes a request to the API server. */
export interface ApiRequest {
  /** The RBAC verb: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** Absent for paths that belong to no kind. */
  readonly resource?: Resource | undefined;
  readonly subresource?: string | undefined;
  /** Absent for requests to a whole collection. */
  readonly key?: ObjectKey | undefined;
  /** The namespace of a collection. */
  readonly namespace?: string | undefined;
  readonly path: string;
}

/** ApiErrorInit describes a failure response. */
export interface ApiErrorInit {
  readonly request: ApiRequest;
  /** The HTTP status, or the `code` of a Status in a watch. */
  readonly status: number;
  /** The Status object of the response; absent if the body was something else. */
  readonly body?: Status | undefined;
  readonly retryAfterMs?: number | undefined;
}

const CODES: Readonly<Record<string, `BOWLINE_API_${string}`>> = {
  AlreadyExists: 'BOWLINE_API_ALREADY_EXISTS',
  BadRequest: 'BOWLINE_API_BAD_REQUEST',
  Conflict: 'BOWLINE_API_CONFLICT',
  Expired: 'BOWLINE_API_EXPIRED',
  Forbidden: 'BOWLINE_API_FORBIDDEN',
  Gone: 'BOWLINE_API_GONE',
  InternalError: 'BOWLINE_API_INTERNAL',
  Invalid: 'BOWLINE_API_INVALID',
  MethodNotAllowed: 'BOWLINE_API_METHOD_NOT_ALLOWED',
  NotAcceptable: 'BOWLINE_API_NOT_ACCEPTABLE',
  NotFound: 'BOWLINE_API_NOT_FOUND',
  RequestEntityTooLarge: 'BOWLINE_API_TOO_LARGE',
  ServerTimeout: 'BOWLINE_API_TIMEOUT',
  ServiceUnavailable: 'BOWLINE_API_UNAVAILABLE',
  Timeout: 'BOWLINE_API_TIMEOUT',
  TooManyRequests: 'BOWLINE_API_TOO_MANY_REQUESTS',
  Unauthorized: 'BOWLINE_API_UNAUTHORIZED',
  UnsupportedMediaType: 'BOWLINE_API_UNSUPPORTED_MEDIA_TYPE',
};

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A validation error of a large object repeats every field; a log line should not. */
const MAX_SERVER_MESSAGE = 2000;

/** ApiError is a failure response of the API server. It keeps the server's message. */
export class ApiError extends BowlineError {
  readonly status: number;
  /** The server's reason, for example `NotFound`; derived from the status if the server sent none. */
  readonly reason: string;
  /** The server's message, without the attempted request and the advice. */
  readonly serverMessage: string;
  readonly details: StatusDetails | undefined;
  readonly causes: readonly StatusCause[];
  /** The Retry-After of the server. */
  readonly retryAfterMs: number | undefined;
  /** Where a list whose continue token expired can go on, in the newest state. */
  readonly continueToken: string | undefined;
  readonly request: ApiRequest;

  constructor(init: ApiErrorInit) {
    const reason = init.body?.reason || REASONS[init.status] || 'Unknown';
    const code = codeOf(init, reason);
    const serverText = (init.body?.message ?? `status ${init.status}`).slice(0, MAX_SERVER_MESSAGE);
    super(code, `cannot ${describe(init.request)}: ${withAdvice(init.request, code, serverText)}`, {
      retryable: init.status === 429 || init.status >= 500,
    });
    this.name = 'ApiError';
    this.status = init.status;
    this.reason = reason;
    this.serverMessage = serverText;
    this.details = init.body?.details;
    this.causes = init.body?.details?.causes ?? [];
    this.retryAfterMs = init.retryAfterMs;
    this.continueToken = init.body?.metadata?.continue || undefined;
    this.request = init.request;
  }
}

function codeOf(init: ApiErrorInit, reason: string): `BOWLINE_API_${string}` {
  // A missing object is named in the details; a missing kind returns plain text, a missing subresource no name.
  if (init.status === 404 && init.request.resource && !init.body?.details?.name) return 'BOWLINE_API_KIND_NOT_SERVED';
  return CODES[reason] ?? 'BOWLINE_API_ERROR';
}

function describe(request: ApiRequest): string {
  const { resource, subresource, key, namespace, verb } = request;
  if (!resource) return `${verb} ${request.path}`;
  const what = subresource ? `${resource.kind}/${subresource}` : resource.kind;
  if (key) return `${verb} ${what} ${keyString(key)}`;
  return `${verb} ${what}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

function withAdvice(request: ApiRequest, code: string, serverText: string): string {
  const { resource } = request;
  if (code === 'BOWLINE_API_UNAUTHORIZED') {
    return `${serverText}: the server does not accept the credentials; renew the token or client certificate, or check that they belong to this cluster`;
  }
  if (code === 'BOWLINE_API_BAD_REQUEST' && serverText.includes('unknown field')) {
    return `${serverText}; correct or remove it, or install the version of the kind that has it`;
  }
  if (!resource) return serverText;
  const name = request.subresource ? `${resource.plural}/${request.subresource}` : resource.plural;
  const group = resource.group === '' ? 'the core API group' : `API group ${resource.group}`;
  if (code === 'BOWLINE_API_FORBIDDEN') {
    const namespace = request.key ? request.key.namespace : request.namespace;
    const where = namespace === undefined ? 'in the whole cluster' : `in namespace ${namespace}`;
    return `${serverText}; if RBAC denied it, grant this identity the verb ${request.verb} on ${name} of ${group} ${where}`;
  }
  if (code === 'BOWLINE_API_KIND_NOT_SERVED') {
    const full = resource.group === '' ? name : `${name}.${resource.group}`;
    return `the server does not serve ${full} in version ${resource.version}: install its CustomResourceDefinition, or use a version that the server serves`;
  }
  return serverText;
}

function has(code: string): (error: unknown) => error is ApiError {
  return (error): error is ApiError => error instanceof ApiError && error.code === code;
}

/**
 * isNotFound returns whether an object does not exist. For a kind that the server does not know, use `isKindNotServed`.
 */
export const isNotFound: (error: unknown) => error is ApiError = has('BOWLINE_API_NOT_FOUND');

/** isKindNotServed returns whether the server does not know the kind, version or subresource: its CRD is missing. */
export const isKindNotServed: (error: unknown) => error is ApiError = has('BOWLINE_API_KIND_NOT_SERVED');

/** isAlreadyExists returns whether an object of this name already exists. */
export const isAlreadyExists: (error: unknown) => error is ApiError = has('BOWLINE_API_ALREADY_EXISTS');

/** isConflict returns whether the object changed since it was read, or another field manager owns a field. */
export const isConflict: (error: unknown) => error is ApiError = has('BOWLINE_API_CONFLICT');

/** isForbidden returns whether this identity lacks permission, or an admission rule denied the request. */
export const isForbidden: (error: unknown) => error is ApiError = has('BOWLINE_API_FORBIDDEN');

/** isNamespaceTerminating returns whether an object could not be created because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return isForbidden(error) && error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
}

/** isUnauthorized returns whether the server rejected the credentials. */
export const isUnauthorized: (error: unknown) => error is ApiError = has('BOWLINE_API_UNAUTHORIZED');

/** isInvalid returns whether the object violates a validation rule; `causes` name the fields. */
export const isInvalid: (error: unknown) => error is ApiError = has('BOWLINE_API_INVALID');

/** isTooManyRequests returns whether the server throttled the request. */
export const isTooManyRequests: (error: unknown) => error is ApiError = has('BOWLINE_API_TOO_MANY_REQUESTS');

/**
 * isExpired returns whether a resourceVersion or a continue token is too old, so that a new list is needed. Covers both
 * of the server's reasons.
 */
export function isExpired(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 410;
}
