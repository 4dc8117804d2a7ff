import { TokenError, type TokenProblem } from '../token/token-error.ts';

/** CODES are the gRPC status codes of the contract. They are numbers of the protocol, so that no library is needed. */
export const CODES = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

/** PROBLEM_KEY is the key of the metadata that carries the problem of a failed call. */
export const PROBLEM_KEY = 'hsm-problem';

const CODE_OF: Readonly<Record<TokenProblem, number>> = {
  NotFound: CODES.NOT_FOUND,
  VersionMismatch: CODES.ABORTED,
  Invalid: CODES.INVALID_ARGUMENT,
  PINIncorrect: CODES.FAILED_PRECONDITION,
  PINUncertain: CODES.FAILED_PRECONDITION,
  PINFinalTry: CODES.FAILED_PRECONDITION,
  PINLocked: CODES.FAILED_PRECONDITION,
  PINMissing: CODES.FAILED_PRECONDITION,
  TokenNotFound: CODES.FAILED_PRECONDITION,
  LibraryMissing: CODES.FAILED_PRECONDITION,
  Pkcs11Unavailable: CODES.FAILED_PRECONDITION,
  Full: CODES.RESOURCE_EXHAUSTED,
  Busy: CODES.RESOURCE_EXHAUSTED,
  Unavailable: CODES.UNAVAILABLE,
  Timeout: CODES.DEADLINE_EXCEEDED,
};

/** Problems for codes that the library reports itself, such as a message that is too large. */
const PROBLEM_OF: Readonly<Record<number, TokenProblem>> = {
  [CODES.NOT_FOUND]: 'NotFound',
  [CODES.ABORTED]: 'VersionMismatch',
  [CODES.INVALID_ARGUMENT]: 'Invalid',
  [CODES.RESOURCE_EXHAUSTED]: 'Invalid',
  [CODES.DEADLINE_EXCEEDED]: 'Timeout',
};

/** Trailers of a response have a limited size. */
const MAX_DETAILS_LENGTH = 2_048;

/** CallStatus is the status of a failed call. */
export interface CallStatus {
  readonly code: number;
  readonly details: string;
  readonly problem: TokenProblem | undefined;
}

/** statusOfError returns the status for an error of a token. Other errors are not described: they may quote anything. */
export function statusOfError(error: unknown): CallStatus {
  if (!(error instanceof TokenError)) {
    return { code: CODES.INTERNAL, details: 'the agent failed; see its log', problem: undefined };
  }
  const { problem, message } = error;
  return { code: CODE_OF[problem], details: message.slice(0, MAX_DETAILS_LENGTH), problem };
}

/** errorOfStatus is the inverse of `statusOfError`. `agent` names the agent for failures that it did not report. */
export function errorOfStatus(status: Omit<CallStatus, 'problem'> & { problem?: unknown }, agent: string): TokenError {
  const { code, details, problem } = status;
  if (isProblem(problem)) return new TokenError(problem, details);
  return new TokenError(PROBLEM_OF[code] ?? 'Unavailable', `the call of the agent ${agent} failed: ${details}`);
}

/** isProblem reports whether a text is a TokenProblem. */
export function isProblem(text: unknown): text is TokenProblem {
  return typeof text === 'string' && Object.hasOwn(CODE_OF, text);
}

/** codeName returns the name of the gRPC status code of a failed call, for metrics. */
export function codeName(error: unknown): string {
  const code = error instanceof TokenError ? CODE_OF[error.problem] : (error as { code?: unknown } | null)?.code;
  return Object.entries(CODES).find(([, number]) => number === code)?.[0] ?? 'UNKNOWN';
}
