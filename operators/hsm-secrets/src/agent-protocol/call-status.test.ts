import { expect, it } from 'vitest';
import { TokenError, type TokenProblem } from '../token/token-error.ts';
import { CODES, codeName, errorOfStatus, isProblem, statusOfError } from './call-status.ts';

it.each<[TokenProblem, keyof typeof CODES]>([
  ['NotFound', 'NOT_FOUND'],
  ['VersionMismatch', 'ABORTED'],
  ['Invalid', 'INVALID_ARGUMENT'],
  ['PINIncorrect', 'FAILED_PRECONDITION'],
  ['PINUncertain', 'FAILED_PRECONDITION'],
  ['PINFinalTry', 'FAILED_PRECONDITION'],
  ['PINLocked', 'FAILED_PRECONDITION'],
  ['PINMissing', 'FAILED_PRECONDITION'],
  ['TokenNotFound', 'FAILED_PRECONDITION'],
  ['LibraryMissing', 'FAILED_PRECONDITION'],
  ['Pkcs11Unavailable', 'FAILED_PRECONDITION'],
  ['Full', 'RESOURCE_EXHAUSTED'],
  ['Busy', 'RESOURCE_EXHAUSTED'],
  ['Unavailable', 'UNAVAILABLE'],
  ['Timeout', 'DEADLINE_EXCEEDED'],
])('%s is %s, and the same error again', (problem, code) => {
  const error = new TokenError(problem, 'what happened');
  const status = statusOfError(error);
  expect(status).toEqual({ code: CODES[code], details: 'what happened', problem });
  expect(errorOfStatus(status, '10.0.0.7:9090')).toEqual(error);
  expect([codeName(error), codeName({ code: status.code })]).toEqual([code, code]);
});

it('describes only errors of tokens, and shortens long messages', () => {
  expect(statusOfError(new Error('a value'))).toMatchObject({ code: CODES.INTERNAL, problem: undefined });
  expect(JSON.stringify(statusOfError(new Error('a value')))).not.toContain('a value');
  expect(statusOfError(new TokenError('Full', 'x'.repeat(5_000))).details).toHaveLength(2_048);
});

it('names the agent in errors that it did not report', () => {
  expect(errorOfStatus({ code: CODES.UNAVAILABLE, details: 'refused' }, '10.0.0.7:9090')).toMatchObject({
    problem: 'Unavailable',
    retryable: true,
    message: 'the call of the agent 10.0.0.7:9090 failed: refused',
  });
  expect(errorOfStatus({ code: CODES.RESOURCE_EXHAUSTED, details: 'too large' }, 'a')).toMatchObject({
    problem: 'Invalid',
  });
  expect(errorOfStatus({ code: 99, details: '', problem: 'toString' }, 'a')).toMatchObject({ problem: 'Unavailable' });
  expect([isProblem('toString'), isProblem(Buffer.from('NotFound')), codeName(new Error())]).toEqual([
    false,
    false,
    'UNKNOWN',
  ]);
});
