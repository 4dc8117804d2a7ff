import { ConfigMap, type Status } from '@bowline/kubernetes';
import { expect, test } from 'vitest';
import { ApiError, isConflict, isExpired, isForbidden, isInvalid, isKindNotServed, isNotFound } from './api-error.ts';

function error(status: number, body?: Status, key = true): ApiError {
  const request = {
    verb: 'update',
    resource: ConfigMap,
    key: key ? { namespace: 'ns', name: 'a' } : undefined,
    path: '/x',
  };
  return new ApiError({ request, status, body });
}

test.each([
  [404, { reason: 'NotFound', details: { name: 'a' } }, 'BOWLINE_API_NOT_FOUND', false],
  [404, { reason: 'NotFound', details: {} }, 'BOWLINE_API_KIND_NOT_SERVED', false],
  [409, { reason: 'Conflict' }, 'BOWLINE_API_CONFLICT', false],
  [409, { reason: 'AlreadyExists' }, 'BOWLINE_API_ALREADY_EXISTS', false],
  [410, { reason: 'Gone' }, 'BOWLINE_API_GONE', false],
  [410, undefined, 'BOWLINE_API_EXPIRED', false],
  [422, { reason: 'Invalid' }, 'BOWLINE_API_INVALID', false],
  [500, { reason: 'ServerTimeout' }, 'BOWLINE_API_TIMEOUT', true],
  [502, undefined, 'BOWLINE_API_ERROR', true],
  [418, { reason: 'Teapot' }, 'BOWLINE_API_ERROR', false],
])('maps status %i with %j to a stable code', (status, body, code, retryable) => {
  expect(error(status, body)).toMatchObject({ code, retryable, status });
});

test('keeps the message of the server, and adds verb, kind and key', () => {
  const causes = [{ field: 'data', reason: 'FieldValueInvalid', message: 'too long' }];
  const problem = error(422, {
    reason: 'Invalid',
    message: 'ConfigMap "a" is invalid',
    details: { name: 'a', causes },
  });
  expect(problem).toMatchObject({ reason: 'Invalid', causes, details: { name: 'a' } });
  expect(problem.message).toBe('cannot update ConfigMap ns/a: ConfigMap "a" is invalid');
  expect(problem.serverMessage).toBe('ConfigMap "a" is invalid');
  expect(problem.request.key).toEqual({ namespace: 'ns', name: 'a' });
});

test('has predicates that match only their own error', () => {
  const absent = error(404, { reason: 'NotFound', details: { name: 'a' } });
  expect([isNotFound(absent), isKindNotServed(absent), isConflict(absent)]).toEqual([true, false, false]);
  const unknown = error(404);
  expect([isNotFound(unknown), isKindNotServed(unknown)]).toEqual([false, true]);
  expect([isExpired(error(410, { reason: 'Gone' })), isExpired(error(410, { reason: 'Expired' }))]).toEqual([
    true,
    true,
  ]);
  expect([isForbidden(error(403)), isInvalid(error(422)), isNotFound(new Error('404')), isNotFound(undefined)]).toEqual(
    [true, true, false, false],
  );
});

test('truncates a very long message', () => {
  expect(error(422, { reason: 'Invalid', message: 'x'.repeat(10_000) }).message.length).toBeLessThan(2100);
});
