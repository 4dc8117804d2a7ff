import type { StatusCause } from '@bowline/kubernetes';
import type { JsonPatchOperation } from '@bowline/machinery';

/** Tells answers from objects, also between two copies of this package. */
const ANSWER: unique symbol = Symbol.for('bowline.dev/admission-answer');

/** AnswerOptions go with any answer. */
export interface AnswerOptions {
  /** Shown to the user by kubectl, one line each; the API server drops what exceeds 4,096 characters in all. Defaults to none. */
  readonly warnings?: readonly string[] | undefined;
}

/** DenyOptions says why a request is refused. */
export interface DenyOptions extends AnswerOptions {
  /** What is wrong and what to do, for the user. */
  readonly message: string;
  /** A reason as in a Status. Defaults to `Invalid` with causes, else to `Forbidden`. */
  readonly reason?: string | undefined;
  /** The HTTP status that the user's request gets, 400 to 499. Defaults to 422 with causes, else to 403. */
  readonly code?: number | undefined;
  /** The fields at fault: `{ reason: 'FieldValueInvalid', field: 'spec.x', message }`. Defaults to none. */
  readonly causes?: readonly StatusCause[] | undefined;
}

/** Admitted lets the request pass. */
export interface Admitted {
  readonly [ANSWER]: 'admit';
  readonly warnings: readonly string[];
}

/** Denied refuses the request. */
export interface Denied {
  readonly [ANSWER]: 'deny';
  readonly warnings: readonly string[];
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly causes: readonly StatusCause[];
}

/** AdmittedPatched lets the request pass with a changed object. */
export interface AdmittedPatched {
  readonly [ANSWER]: 'patch';
  readonly warnings: readonly string[];
  readonly operations: readonly JsonPatchOperation[];
}

/** AdmittedChanged lets the request pass with another object in place of the one that came. */
export interface AdmittedChanged<T> {
  readonly [ANSWER]: 'change';
  readonly warnings: readonly string[];
  readonly object: T;
}

/** ValidatingAnswer is what a validating handler returns. Nothing is not an answer: a forgotten return must not let anything pass. */
export type ValidatingAnswer = Admitted | Denied;

/** MutatingAnswer is what a mutating handler returns: an answer, or simply the object as it should be. */
export type MutatingAnswer<T> = Admitted | Denied | AdmittedPatched | AdmittedChanged<T> | T;

/** AnyAnswer is an answer whatever made it. */
export type AnyAnswer = Admitted | Denied | AdmittedPatched | AdmittedChanged<unknown>;

/** admit lets the request pass unchanged. */
export function admit(options: AnswerOptions = {}): Admitted {
  return { [ANSWER]: 'admit', warnings: options.warnings ?? [] };
}

/**
 * deny refuses the request. The user sees the message behind the webhook's name; of a refusal with causes, kubectl shows those alone.
 *
 * @example
 * return deny('the source namespace does not exist; create it first');
 */
export function deny(reason: string | DenyOptions): Denied {
  const { message, warnings = [], causes = [], ...given } = typeof reason === 'string' ? { message: reason } : reason;
  const byField = causes.length > 0;
  const code = given.code ?? (byField ? 422 : 403);
  // A code outside of the user's errors would make a refusal look like a success or a fault of the API server.
  if (!Number.isInteger(code) || code < 400 || code > 499)
    throw new RangeError(`deny takes a code from 400 to 499, not ${code}`);
  return {
    [ANSWER]: 'deny',
    warnings,
    message,
    causes,
    code,
    reason: given.reason ?? (byField ? 'Invalid' : 'Forbidden'),
  };
}

/** admitChanged lets the request pass with this object instead; the JSON patch is computed. Without warnings, returning the object alone does the same. */
export function admitChanged<T>(object: T, options: AnswerOptions = {}): AdmittedChanged<T> {
  return { [ANSWER]: 'change', warnings: options.warnings ?? [], object };
}

/** admitPatched lets the request pass with these changes to its object. */
export function admitPatched(operations: readonly JsonPatchOperation[], options: AnswerOptions = {}): AdmittedPatched {
  return { [ANSWER]: 'patch', warnings: options.warnings ?? [], operations };
}

/** isAnswer says whether a handler returned an answer, and not an object or nothing. */
export function isAnswer(value: unknown): value is AnyAnswer {
  return typeof value === 'object' && value !== null && (value as Partial<AnyAnswer>)[ANSWER] !== undefined;
}

/** kindOf tells the answers apart. */
export function kindOf(answer: AnyAnswer): AnyAnswer[typeof ANSWER] {
  return answer[ANSWER];
}
