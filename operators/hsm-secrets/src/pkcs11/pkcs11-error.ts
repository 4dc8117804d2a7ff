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

/** codeOf returns the return value of the module that an error reports. */
export function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : undefined;
}

/**
 * pkcs11Error describes a failed call of the module: only by the name of its return value, which quotes nothing. Whatever
 * is not known to have another remedy counts as Unavailable, so that a new session is opened: a token that is missing
 * or was removed, an error of the device, an invalid session, a user who is not logged in.
 */
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
