import { TokenError, type TokenProblem } from '../token/token-error.ts';
import { CKR } from './pkcs11-api.ts';

const PROBLEMS: Readonly<Record<number, TokenProblem>> = {
  [CKR.PIN_INCORRECT]: 'PINIncorrect',
  [CKR.PIN_EXPIRED]: 'PINIncorrect',
  [CKR.PIN_LOCKED]: 'PINLocked',
  [CKR.PIN_INVALID]: 'Invalid',
  [CKR.PIN_LEN_RANGE]: 'Invalid',
  [CKR.USER_PIN_NOT_INITIALIZED]: 'TokenNotFound',
  [CKR.DEVICE_MEMORY]: 'Full',
  [CKR.ATTRIBUTE_VALUE_INVALID]: 'Invalid',
  [CKR.DATA_INVALID]: 'Invalid',
  [CKR.DATA_LEN_RANGE]: 'Invalid',
  [CKR.TEMPLATE_INCOMPLETE]: 'Invalid',
  [CKR.TEMPLATE_INCONSISTENT]: 'Invalid',
};

const SESSION_ENDED: ReadonlySet<number | undefined> = new Set([
  CKR.SLOT_ID_INVALID,
  CKR.GENERAL_ERROR,
  CKR.FUNCTION_FAILED,
  CKR.DEVICE_ERROR,
  CKR.DEVICE_REMOVED,
  CKR.SESSION_CLOSED,
  CKR.SESSION_HANDLE_INVALID,
  CKR.TOKEN_NOT_PRESENT,
  CKR.TOKEN_NOT_RECOGNIZED,
  CKR.USER_NOT_LOGGED_IN,
  CKR.CRYPTOKI_NOT_INITIALIZED,
]);

/** codeOf returns the return value of the module that an error reports. */
export function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : undefined;
}

/** endsSession reports whether an error means that a new session has to be opened. */
export function endsSession(error: unknown): boolean {
  return SESSION_ENDED.has(codeOf(error));
}

/** pkcs11Error describes a failed call of the module: only by the name of its return value, which quotes nothing. */
export function pkcs11Error(attempt: string, error: unknown): TokenError {
  if (error instanceof TokenError) return error;
  const code = codeOf(error);
  const problem = code === undefined ? 'Unavailable' : (PROBLEMS[code] ?? 'Unavailable');
  return new TokenError(problem, `cannot ${attempt}: ${nameOf(code)}`);
}

function nameOf(code: number | undefined): string {
  if (code === undefined || code === 0) return 'the PKCS#11 module failed';
  const name = Object.entries(CKR).find(([, value]) => value === code)?.[0];
  return name === undefined ? `the PKCS#11 module returned 0x${code.toString(16)}` : `CKR_${name}`;
}
