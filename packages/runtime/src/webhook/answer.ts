import type { StatusCause } from '@bowline/kubernetes';
import type { JsonPatchOperation } from '@bowline/machinery';

/** Distinguishes responses from objects, even between two copies of this package. */
const ANSWER: unique symbol = Symbol.for('bowline.dev/admission-answer');

/** AnswerOptions apply to any response. */
export interface AnswerOptions {
  /**
   * Displayed to the user by kubectl, one line each; the API server drops what exceeds 4,096 characters in total. Defaults to
   * none.
   */
  readonly warnings?: readonly string[] | undefined;
}

/** DenyOptions explains why a request is denied. */
export interface DenyOptions extends AnswerOptions {
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
  readonly [ANSWER]: 'admit';
  readonly warnings: readonly string[];
}

/** Denied denies the request. */
export interface Denied {
  readonly [ANSWER]: 'deny';
  readonly warnings: readonly string[];
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly causes: readonly StatusCause[];
}

/** AdmittedPatched allows the request with a patch of its object. */
export interface AdmittedPatched {
  readonly [ANSWER]: 'patch';
  readonly warnings: readonly string[];
  readonly operations: readonly JsonPatchOperation[];
}

/** AdmittedChanged allows the request with another object instead of the original. */
export interface AdmittedChanged<T> {
  readonly [ANSWER]: 'change';
  readonly warnings: readonly string[];
  readonly object: T;
}

/**
 * ValidatingAnswer is the return type of a validating handler. It excludes undefined, so that a forgotten return cannot allow a
 * request.
 */
export type ValidatingAnswer = Admitted | Denied;

/** MutatingAnswer is the return type of a mutating handler: a response, or simply the changed object. */
export type MutatingAnswer<T> = Admitted | Denied | AdmittedPatched | AdmittedChanged<T> | T;

/** AnyAnswer is a response of any kind. */
export type AnyAnswer = Admitted | Denied | AdmittedPatched | AdmittedChanged<unknown>;

/** admit allows the request unchanged. */
export function admit(options: AnswerOptions = {}): Admitted {
  return { [ANSWER]: 'admit', warnings: options.warnings ?? [] };
}

/**
 * deny denies the request. The user sees the message after the webhook's name; if there are causes, kubectl displays only those.
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
    [ANSWER]: 'deny',
    warnings,
    message,
    causes,
    code,
    reason: given.reason ?? (byField ? 'Invalid' : 'Forbidden'),
  };
}

/**
 * admitChanged allows the request with this object instead; the JSON patch is computed. Without warnings, returning the object
 * alone has the same effect.
 */
export function admitChanged<T>(object: T, options: AnswerOptions = {}): AdmittedChanged<T> {
  return { [ANSWER]: 'change', warnings: options.warnings ?? [], object };
}

/** admitPatched allows the request with these changes to its object. */
export function admitPatched(operations: readonly JsonPatchOperation[], options: AnswerOptions = {}): AdmittedPatched {
  return { [ANSWER]: 'patch', warnings: options.warnings ?? [], operations };
}

/** isAnswer returns whether a handler returned a response rather than an object or nothing. */
export function isAnswer(value: unknown): value is AnyAnswer {
  return typeof value === 'object' && value !== null && (value as Partial<AnyAnswer>)[ANSWER] !== undefined;
}

/** kindOf returns the kind of a response. */
export function kindOf(answer: AnyAnswer): AnyAnswer[typeof ANSWER] {
  return answer[ANSWER];
}
