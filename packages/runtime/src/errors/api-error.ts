import {
  keyString,
  type ObjectKey,
  type Resource,
  type Status,
  type StatusCause,
  type StatusDetails,
} from '@bowline/kubernetes';
import { BowlineError } from './bowline-error.ts';

/** ApiRequest says what was asked of the API server. */
export interface ApiRequest {
  /** The verb as RBAC knows it: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** Absent for paths that no kind describes. */
  readonly resource?: Resource | undefined;
  readonly subresource?: string | undefined;
  /** Absent when a whole collection was meant. */
  readonly key?: ObjectKey | undefined;
  /** The namespace of a collection. */
  readonly namespace?: string | undefined;
  readonly path: string;
}

/** ApiErrorInit is an answer that means failure. */
export interface ApiErrorInit {
  readonly request: ApiRequest;
  /** The HTTP status, or the `code` of a Status in a watch. */
  readonly status: number;
  /** The Status object of the answer; absent when the body was something else. */
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
const LONGEST_SERVER_MESSAGE = 2000;

/** ApiError is an answer of the API server that means failure. It keeps what the server said. */
export class ApiError extends BowlineError {
  readonly status: number;
  /** The server's reason, for instance `NotFound`; follows from the status when the server named none. */
  readonly reason: string;
  /** What the server said, without what was attempted and what to do about it. */
  readonly serverMessage: string;
  readonly details: StatusDetails | undefined;
  readonly causes: readonly StatusCause[];
  /** How long the server asked to wait before another attempt. */
  readonly retryAfterMs: number | undefined;
  /** Where a list whose continue token expired can go on, in the newest state. */
  readonly continueToken: string | undefined;
  readonly request: ApiRequest;

  constructor(init: ApiErrorInit) {
    const reason = init.body?.reason || REASONS[init.status] || 'Unknown';
    const code = codeOf(init, reason);
    const said = (init.body?.message ?? `status ${init.status}`).slice(0, LONGEST_SERVER_MESSAGE);
    super(code, `cannot ${describe(init.request)}: ${wayOut(init.request, code, said)}`, {
      retryable: init.status === 429 || init.status >= 500,
    });
    this.name = 'ApiError';
    this.status = init.status;
    this.reason = reason;
    this.serverMessage = said;
    this.details = init.body?.details;
    this.causes = init.body?.details?.causes ?? [];
    this.retryAfterMs = init.retryAfterMs;
    this.continueToken = init.body?.metadata?.continue || undefined;
    this.request = init.request;
  }
}

function codeOf(init: ApiErrorInit, reason: string): `BOWLINE_API_${string}` {
  // An absent object is named in the details; an absent kind answers with plain text, an absent subresource with no name.
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

function wayOut(request: ApiRequest, code: string, said: string): string {
  const { resource } = request;
  if (code === 'BOWLINE_API_UNAUTHORIZED') {
    return `${said}: the server does not accept the credentials; renew the token or client certificate, or check that they belong to this cluster`;
  }
  if (code === 'BOWLINE_API_BAD_REQUEST' && said.includes('unknown field')) {
    return `${said}; correct or remove it, or install the version of the kind that has it`;
  }
  if (!resource) return said;
  const name = request.subresource ? `${resource.plural}/${request.subresource}` : resource.plural;
  const group = resource.group === '' ? 'the core API group' : `API group ${resource.group}`;
  if (code === 'BOWLINE_API_FORBIDDEN') {
    const namespace = request.key ? request.key.namespace : request.namespace;
    const where = namespace === undefined ? 'in the whole cluster' : `in namespace ${namespace}`;
    return `${said}; if RBAC refused it, allow this identity the verb ${request.verb} on ${name} of ${group} ${where}`;
  }
  if (code === 'BOWLINE_API_KIND_NOT_SERVED') {
    const full = resource.group === '' ? name : `${name}.${resource.group}`;
    return `the server does not serve ${full} in version ${resource.version}: install its CustomResourceDefinition, or use a version that the server has`;
  }
  return said;
}

function has(code: string): (error: unknown) => error is ApiError {
  return (error): error is ApiError => error instanceof ApiError && error.code === code;
}

/** isNotFound says that an object does not exist. A kind that the server does not know is `isKindNotServed`. */
export const isNotFound: (error: unknown) => error is ApiError = has('BOWLINE_API_NOT_FOUND');

/** isKindNotServed says that the server does not know the kind, version or subresource: its CRD is missing. */
export const isKindNotServed: (error: unknown) => error is ApiError = has('BOWLINE_API_KIND_NOT_SERVED');

/** isAlreadyExists says that an object of this name is there already. */
export const isAlreadyExists: (error: unknown) => error is ApiError = has('BOWLINE_API_ALREADY_EXISTS');

/** isConflict says that the object changed since it was read, or that another field manager owns a field. */
export const isConflict: (error: unknown) => error is ApiError = has('BOWLINE_API_CONFLICT');

/** isForbidden says that this identity may not do it, or that an admission rule refused it. */
export const isForbidden: (error: unknown) => error is ApiError = has('BOWLINE_API_FORBIDDEN');

/** isNamespaceTerminating says that nothing can be created in the namespace any more, because it is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return isForbidden(error) && error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
}

/** isUnauthorized says that the server does not accept the credentials. */
export const isUnauthorized: (error: unknown) => error is ApiError = has('BOWLINE_API_UNAUTHORIZED');

/** isInvalid says that the object breaks a validation rule; `causes` name the fields. */
export const isInvalid: (error: unknown) => error is ApiError = has('BOWLINE_API_INVALID');

/** isTooManyRequests says that the server asks for fewer requests. */
export const isTooManyRequests: (error: unknown) => error is ApiError = has('BOWLINE_API_TOO_MANY_REQUESTS');

/** isExpired says that a resourceVersion or a continue token is too old: list again. Covers both of the server's reasons. */
export function isExpired(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 410;
}
