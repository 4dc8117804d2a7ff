import { Secret } from '@bowline/kubernetes';
import { ApiError } from '@bowline/runtime/client';
import { expect, it } from 'vitest';
import { writeProblem } from './write-problem.ts';

const errorWith = (status: number, message: string, field = 'data[user]'): ApiError =>
  new ApiError({
    request: { verb: 'create', resource: Secret, namespace: 'apps', path: '/' },
    status,
    body: { status: 'Failure', message, details: { causes: [{ field, reason: 'FieldValueInvalid' }] } },
  });

it.each<[number, string, boolean]>([
  [409, 'conflict', false],
  [429, 'too many requests', false],
  [503, 'unavailable', false],
  [403, 'forbidden: hunter2', true],
  [422, 'invalid: hunter2', true],
  [500, 'admission webhook "x" denied the request: hunter2', true],
])('reports status %i (%s): %s, without the text of the API server', (status, message, isReported) => {
  const problem = writeProblem(errorWith(status, message), 'database');
  expect(problem?.reason).toBe(isReported ? 'WriteRefused' : undefined);
  expect(problem?.message ?? '').not.toContain('hunter2');
});

it('names the fields that the API server refuses, but not those of a webhook', () => {
  expect(writeProblem(errorWith(422, 'Secret "a" is invalid'), 'database')?.message).toContain('data[user]');
  const denied = errorWith(422, 'admission webhook "x" denied the request: no', 'data.hunter2');
  expect(writeProblem(denied, 'database')?.message).not.toContain('hunter2');
});

it('leaves other errors to the caller', () => {
  expect(writeProblem(new Error('broken'), 'database')).toBeUndefined();
});
