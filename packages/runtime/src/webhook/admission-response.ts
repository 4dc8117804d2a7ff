import type { StatusCause } from '@bowline/kubernetes';
import type { JsonPatchOperation } from '@bowline/machinery';

/** Distinguishes responses from objects, even between two copies of this package. */
const RESPONSE: unique symbol = Symbol.for('bowline.dev/admission-answer');

/** AdmissionResponseOptions apply to any response. */
export interface AdmissionResponseOptions {
  /**
   * Displayed to the user by kubectl, one line each; the API server drops what exceeds 4,096 characters in total.
   * Defaults to none.
   */
  readonly warnings?: readonly string[] | undefined;
}

/** DenyOptions explains why a request is denied. */
export interface DenyOptions extends AdmissionResponseOptions {
  /** What is wrong and how to fix it, for the user. */
  readonly message: string;
  /** A Status reason. Defaults to `Invalid` with causes, otherwise to `Forbidden`. */
  readonly reason?: string | undefined;
  /** The HTTP status of the user's request, 400 to 499. Defaults to 422 with causes, otherwise to 403. */
  readonly code?: number | undefined;
  /** The invalid fields: `{ reason: 'FieldValueInvalid', field: 'spec.x', message }`. Defaults to none. */
  readonly causes?: readonly StatusCause[] | undefined;
}

/** Admitted allows the request. */
export interface Admitted {
  readonly [RESPONSE]: 'admit';
  readonly warnings: readonly string[];
}

/** Denied denies the request. */
export interface Denied {
  readonly [RESPONSE]: 'deny';
  readonly warnings: readonly string[];
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly causes: readonly StatusCause[];
}

/** AdmittedPatched allows the request with a patch of its object. */
export interface AdmittedPatched {
  readonly [RESPONSE]: 'patch';
  readonly warnings: readonly string[];
  readonly operations: readonly JsonPatchOperation[];
}

/** AdmittedChanged allows the request with another object instead of the original. */
export interface AdmittedChanged<T> {
  readonly [RESPONSE]: 'change';
  readonly warnings: readonly string[];
  readonly object: T;
}

/**
 * ValidatingResponse is the return type of a validating handler. It excludes undefined, so that a forgotten return
 * cannot allow a request.
 */
export type ValidatingResponse = Admitted | Denied;

/** MutatingResponse is the return type of a mutating handler: a response, or simply the changed object. */
export type MutatingResponse<T> = Admitted | Denied | AdmittedPatched | AdmittedChanged<T> | T;

/** AnyResponse is a response of any kind. */
export type AnyResponse = Admitted | Denied | AdmittedPatched | AdmittedChanged<unknown>;

/** admit allows the request unchanged. */
export function admit(options: AdmissionResponseOptions = {}): Admitted {
  return { [RESPONSE]: 'admit', warnings: options.warnings ?? [] };
}

/**
 * deny denies the request. The user sees the message after the webhook's name; if there are causes, kubectl displays
 * only those.
 *
 * @example
 * return deny('the source namespace does not exist; create it first');
 */
export function deny(reason: string | DenyOptions): Denied {
  const { message, warnings = [], causes = [], ...given } = typeof reason === 'string' ? { message: reason } : reason;
  const byField = causes.length > 0;
  const code = given.code ?? (byField ? 422 : 403);
  // A code outside the 4xx range would make a denial look like a success or an API server failure.
  if (!Number.isInteger(code) || code < 400 || code > 499)
    throw new RangeError(`deny requires a code from 400 to 499, got ${code}`);
  return {
    [RESPONSE]: 'deny',
    warnings,
    message,
    causes,
    code,
    reason: given.reason ?? (byField ? 'Invalid' : 'Forbidden'),
  };
}

/**
 * admitChanged allows the request with this object instead; the JSON patch is computed. Without warnings, returning the
 * object alone has the same effect.
 */
export function admitChanged<T>(object: T, options: AdmissionResponseOptions = {}): AdmittedChanged<T> {
  return { [RESPONSE]: 'change', warnings: options.warnings ?? [], object };
}

/** admitPatched allows the request with these changes to its object. */
export function admitPatched(
  operations: readonly JsonPatchOperation[],
  options: AdmissionResponseOptions = {},
): AdmittedPatched {
  return { [RESPONSE]: 'patch', warnings: options.warnings ?? [], operations };
}

/** isAdmissionResponse returns whether a handler returned a response rather than an object or nothing. */
export function isAdmissionResponse(value: unknown): value is AnyResponse {
  return typeof value === 'object' && value !== null && (value as Partial<AnyResponse>)[RESPONSE] !== undefined;
}

/** kindOf returns the kind of a response. */
export function kindOf(response: AnyResponse): AnyResponse[typeof RESPONSE] {
  return response[RESPONSE];
}
