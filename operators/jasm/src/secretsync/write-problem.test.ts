import { Secret, type Status } from '@bowline/kubernetes';
import { ApiError } from '@bowline/runtime/client';
import { describe, expect, it } from 'vitest';
import { someRequest } from '../pods/requesting-pod.test-support.ts';
import { writeProblem } from './write-problem.ts';

const VALUE = 'correct horse';
const data = { password: Buffer.from(VALUE).toString('base64') };

const refused = (status: number, body: Status = {}): ApiError =>
  new ApiError({
    request: { verb: 'create', resource: Secret, namespace: 'shop', path: '/' },
    status,
    body: { status: 'Failure', ...body },
  });
const messageOf = (status: number, body?: Status): string | undefined =>
  writeProblem(refused(status, body), { request: someRequest(), data })?.message;

describe('writeProblem', () => {
  it.each([404, 409, 429, 500, 503])('leaves a %i to the next retry', (status) => {
    expect(messageOf(status)).toBeUndefined();
  });

  it('leaves errors that are not from the API server to the next retry', () => {
    expect(writeProblem(new TypeError('oh'), { request: someRequest() })).toBeUndefined();
  });

  it('names the invalid fields, but not their values', () => {
    const causes = [{ field: 'data[tls.crt]', reason: 'FieldValueRequired', message: `Invalid value: "${VALUE}"` }];
    const message = messageOf(422, {
      reason: 'Invalid',
      message: `Secret "db" is invalid: ${VALUE}`,
      details: { causes },
    });
    expect(message).toBe(
      'Secret db cannot be written: the API server rejects it as invalid: data[tls.crt] (FieldValueRequired)',
    );
  });

  it('passes on messages of quotas and RBAC', () => {
    const message =
      'secrets "db" is forbidden: exceeded quota: few, requested: secrets=1, used: secrets=1, limited: secrets=1';
    expect(messageOf(403, { reason: 'Forbidden', message })).toContain('exceeded quota: few');
  });

  it('reports that a namespace is being deleted', () => {
    const causes = [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }];
    expect(messageOf(403, { reason: 'Forbidden', message: 'no', details: { causes } })).toMatch(
      /namespace is being deleted$/,
    );
  });

  it.each([403, 409, 429, 500])('does not pass on what a webhook that denies with %i quotes', (status) => {
    const message = `admission webhook "deny.example.dev" denied the request: ${data.password.slice(1)}`;
    expect(messageOf(status, { message })).toMatch(/"deny\.example\.dev" denied the request$/);
  });

  it('does not pass on what an admission policy quotes', () => {
    const message = `secrets "db" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${VALUE.slice(1)}`;
    expect(messageOf(403, { reason: 'Forbidden', message })).toMatch(/with binding 'b' denied request$/);
  });

  it('names no fields if the values are not known', () => {
    const details = { causes: [{ field: `data.${VALUE}`, reason: 'FieldValueInvalid' }] };
    const problem = writeProblem(refused(422, { reason: 'Invalid', details }), { request: someRequest() });
    expect(problem?.message).toMatch(/rejects it as invalid: no field reported$/);
  });

  it.each([VALUE, data.password])('does not pass on a message that contains %s', (value) => {
    const message = messageOf(400, { reason: 'BadRequest', message: `cannot read ${value}` });
    expect(message).not.toContain(value);
    expect(message).toContain('rejects it with status 400');
  });
});
