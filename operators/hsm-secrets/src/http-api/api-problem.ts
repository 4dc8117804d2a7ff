import { BowlineError } from '@bowline/machinery';
import { TokenError, type TokenProblem } from '../token/token-error.ts';

/** ApiCode is the code of an error that the API returns. Codes are API. */
export type ApiCode =
  | 'missing_auth'
  | 'invalid_token'
  | 'forbidden'
  | 'validation_failed'
  | 'secret_not_found'
  | 'hsm_unavailable'
  | 'hsm_read_error'
  | 'hsm_write_error'
  | 'pin_refused'
  | 'too_large'
  | 'too_many'
  | 'not_leader';

/** ApiProblemOptions adds to a problem what a caller can act on. */
export interface ApiProblemOptions {
  /** Further information for programs. Never a value or a PIN. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** After how many seconds a retry may succeed. */
  readonly retryAfterSeconds?: number | undefined;
  /** The methods that the path supports. */
  readonly allow?: readonly string[] | undefined;
}

/** ApiProblem is an error that is returned to the caller of the API. Its message never contains a value or a PIN. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: ApiCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: readonly string[] | undefined;

  constructor(status: number, code: ApiCode, message: string, options: ApiProblemOptions = {}) {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }
}

/** invalid returns the problem of a request that can never succeed as it is. */
export function invalid(message: string): ApiProblem {
  return new ApiProblem(400, 'validation_failed', message);
}

/** notLeader returns the problem of a request that only the leader can serve. */
export function notLeader(): ApiProblem {
  const message = 'this replica of the manager is not the leader, and only the leader writes to the cluster; retry';
  return new ApiProblem(503, 'not_leader', message, { retryAfterSeconds: 1 });
}

/** problemOf returns the problem that a caller sees for an error; undefined for one that nothing is known about. */
export function problemOf(error: unknown, isRead: boolean): ApiProblem | undefined {
  if (error instanceof ApiProblem) return error;
  if (error instanceof TokenError) return tokenProblem(error, isRead);
  if (!(error instanceof BowlineError)) return undefined;
  if (error.code === 'BOWLINE_NOT_LEADER') return notLeader();
  if (error.code === 'BOWLINE_ACCESS_REVIEW') {
    const message = 'cannot check the token or the permission at the moment; retry later';
    return new ApiProblem(503, 'hsm_unavailable', message, { retryAfterSeconds: 5 });
  }
  return undefined;
}

const STATUS: Readonly<Record<TokenProblem, number>> = {
  NotFound: 404,
  VersionMismatch: 409,
  Invalid: 400,
  PINIncorrect: 503,
  PINUncertain: 503,
  PINFinalTry: 503,
  PINLocked: 503,
  PINMissing: 503,
  TokenNotFound: 503,
  LibraryMissing: 503,
  Pkcs11Unavailable: 503,
  Full: 507,
  Busy: 503,
  Unavailable: 503,
  Timeout: 503,
};

function tokenProblem({ problem, message, retryable }: TokenError, isRead: boolean): ApiProblem {
  const options = { details: { reason: problem }, ...(retryable ? { retryAfterSeconds: 2 } : {}) };
  return new ApiProblem(STATUS[problem], codeOf(problem, isRead), message, options);
}

function codeOf(problem: TokenProblem, isRead: boolean): ApiCode {
  if (problem === 'NotFound') return 'secret_not_found';
  if (problem === 'Invalid') return 'validation_failed';
  if (problem.startsWith('PIN')) return 'pin_refused';
  if (problem === 'Full' || problem === 'VersionMismatch') return isRead ? 'hsm_read_error' : 'hsm_write_error';
  return 'hsm_unavailable';
}
