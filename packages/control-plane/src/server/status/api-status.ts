import { describeProblems, type FieldProblem, quoteText } from '@bowline/machinery';

/** StatusCause holds one of the reasons for a failure. */
export interface StatusCause {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly field?: string | undefined;
}

/** StatusDetails identifies the object that a Status is about. */
export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  /** The resource in most responses, the kind in those about an invalid body. */
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** Status is the response of the API when it does not return an object. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: StatusDetails | undefined;
  readonly code?: number | undefined;
}

/** StatusError reports a request that was rejected. The client receives it as a Status. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string | undefined, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** toStatus returns the body of the response. */
  toStatus(): Status {
    const { code, reason, message, details } = this;
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code };
  }
}

/** ResourceName identifies a resource in messages: `deployments.apps`. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

/** KindName identifies a kind in messages: `Deployment.apps`. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
}

const qualified = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`);

function about({ group, resource }: ResourceName, name: string, more: Partial<StatusDetails> = {}): StatusDetails {
  return { name: name || undefined, group: group || undefined, kind: resource, ...more };
}

/** notFound reports that the object does not exist. */
export function notFound(resource: ResourceName, name: string): StatusError {
  const message = `${qualified(resource.resource, resource.group)} ${quoteText(name)} not found`;
  return new StatusError(404, 'NotFound', message, about(resource, name));
}

/** noSuchResource reports that the group and version are served, but the resource is not. */
export function noSuchResource(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** alreadyExists reports that an object of that name exists, or is still being deleted. */
export function alreadyExists(resource: ResourceName, name: string, isTerminating = false): StatusError {
  const existing = `${qualified(resource.resource, resource.group)} ${quoteText(name)} already exists`;
  const message = isTerminating ? `object is being deleted: ${existing}` : existing;
  return new StatusError(409, 'AlreadyExists', message, about(resource, name));
}

/** MODIFIED is the conflict message for an outdated resourceVersion. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** conflict reports that the object is not in the state that the request expects. */
export function conflict(resource: ResourceName, name: string, why: string = MODIFIED): StatusError {
  const what = `${qualified(resource.resource, resource.group)} ${quoteText(name)}`;
  return new StatusError(409, 'Conflict', `Operation cannot be fulfilled on ${what}: ${why}`, about(resource, name));
}

/** invalid reports that the object fails validation, and lists all problems. */
export function invalid(kind: KindName, name: string, problems: readonly FieldProblem[]): StatusError {
  const what = `${qualified(kind.kind, kind.group)} ${JSON.stringify(name)}`;
  return new StatusError(422, 'Invalid', `${what} is invalid: ${describeProblems(problems)}`, {
    name: name || undefined,
    group: kind.group || undefined,
    kind: kind.kind || undefined,
    causes: problems.map(({ field, reason, message }) => ({ reason, message, field })),
  });
}

/** badRequest reports that the request is malformed, whatever is stored. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

/** otherNamespace reports that the namespace of the object differs from the namespace of the request. */
export function otherNamespace(): StatusError {
  return badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** forbidden reports that the request was understood, but is not allowed. */
export function forbidden(resource: ResourceName, name: string, why: string, causes?: StatusCause[]): StatusError {
  const what = qualified(resource.resource, resource.group);
  const message = name === '' ? `${what} is forbidden: ${why}` : `${what} ${JSON.stringify(name)} is forbidden: ${why}`;
  return new StatusError(403, 'Forbidden', message, about(resource, name, { causes }));
}

/** unauthorized reports that the client is not authenticated. */
export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized');
}

/** methodNotAllowed reports that the resource exists, but does not support the verb. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}

/** expired reports that the requested resource version is no longer available. */
export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

/** versionTooLarge reports that the requested resource version does not exist yet. */
export function versionTooLarge(requested: number, current: number): StatusError {
  const message = `Too large resource version: ${requested}, current: ${current}`;
  return new StatusError(504, 'Timeout', `Timeout: ${message}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/** timedOut reports that the server stopped working on a request that took too long. */
export function timedOut(): StatusError {
  const message = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
  return new StatusError(504, 'Timeout', message, {});
}

/** unsupportedMediaType reports that the server does not read the format of the body. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

/** notAcceptable reports that the client accepts none of the formats that the server writes. */
export function notAcceptable(written: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${written.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message);
}

/** nothingAcceptable reports that the client accepts no format that the server knows at all. */
export function nothingAcceptable(written: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${written.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message, {});
}

/** tooLarge reports that the body exceeds the size limit of requests. */
export function tooLarge(limit: number): StatusError {
  const message = `Request entity too large: limit is ${limit}`;
  return new StatusError(413, 'RequestEntityTooLarge', message);
}

/** internalError reports a bug in the server, or in something that it called. */
export function internalError(message: string): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}
