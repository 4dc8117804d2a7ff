import { BowlineError } from '@bowline/machinery';

/** TokenProblem is the kind of a failure of a token or an agent. Those that begin with PIN are reasons of a condition. */
export type TokenProblem =
  /** The path has no secret. */
  | 'NotFound'
  /** The secret does not have the version that should be replaced. */
  | 'VersionMismatch'
  /** A path, key, value or PIN is not valid. */
  | 'Invalid'
  /** The token refused the PIN. */
  | 'PINIncorrect'
  /** A wrong PIN was entered since the last successful login, perhaps by another program. */
  | 'PINUncertain'
  /** One more wrong PIN would lock the token. */
  | 'PINFinalTry'
  | 'PINLocked'
  /** The file with the PIN is missing or empty. */
  | 'PINMissing'
  /** No token, or more than one, could be the one to use. */
  | 'TokenNotFound'
  /** The PKCS#11 module does not exist or cannot be loaded. */
  | 'LibraryMissing'
  /** pkcs11js is not installed. */
  | 'Pkcs11Unavailable'
  /** The token has no room for the secret. */
  | 'Full'
  /** Too many calls are waiting. */
  | 'Busy'
  /** The token is unplugged, its session ended, or the worker restarts. A retry may succeed. */
  | 'Unavailable'
  /** The call did not end in time. */
  | 'Timeout';

const RETRYABLE: ReadonlySet<TokenProblem> = new Set(['Busy', 'Unavailable', 'Timeout', 'VersionMismatch']);

/** TokenError reports that a token or an agent could not do something. Its message never contains a value or a PIN. */
export class TokenError extends BowlineError {
  readonly problem: TokenProblem;

  constructor(problem: TokenProblem, message: string, options: { readonly cause?: unknown } = {}) {
    super('BOWLINE_HSM_TOKEN', message, { ...options, retryable: RETRYABLE.has(problem) });
    this.problem = problem;
  }
}
