import { describe, expect, it } from 'vitest';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { bundleProblem, federationProblem, jwtIssuerProblem, namespaceProblem, validity } from './validity.ts';

const parent = (spec: object) => ({ spec }) as ZeroTrustWorkloadIdentityManager;
const config = { operandNamespace: 'spire' };

describe('jwtIssuerProblem', () => {
  it.each(['https://oidc.example.org', 'http://a', 'https://a.example.org:8443/path', 'HTTPS://A.example.org'])(
    'accepts %s',
    (issuer) => {
      expect(jwtIssuerProblem(issuer)).toBeUndefined();
    },
  );

  it.each([
    ['https://:80', 'not a URL'],
    ['https://user:secret@example.org', 'user name or password'],
    ['https://a_b.example.org', 'not a DNS name'],
    ['https://[::1]', 'not a DNS name'],
  ])('rejects %s', (issuer, problem) => {
    expect(jwtIssuerProblem(issuer)).toMatchObject({
      reason: 'InvalidJWTIssuer',
      message: expect.stringContaining(problem) as string,
    });
    expect(jwtIssuerProblem(issuer)?.message).not.toContain('secret');
  });
});

describe('namespaceProblem', () => {
  it.each([{}, { namespace: 'spire' }, { bundleConfig: { name: 'b', namespace: 'spire' } }])('accepts %o', (spec) => {
    expect(namespaceProblem(parent(spec), config)).toBeUndefined();
  });

  it.each([
    [{ namespace: 'other' }, 'spec.namespace is "other"'],
    [{ bundleConfig: { name: 'b', namespace: 'other' } }, 'spec.bundleConfig.namespace is "other"'],
  ])('rejects %o with both namespaces', (spec, text) => {
    const problem = namespaceProblem(parent(spec), config);
    expect(problem?.reason).toBe('NamespaceMismatch');
    expect(problem?.message).toContain(text);
    expect(problem?.message).toContain('"spire"');
  });
});

it('a bundle may not have the name of a configuration file', () => {
  expect(bundleProblem('spire-bundle')).toBeUndefined();
  expect(bundleProblem('spire-agent')).toMatchObject({ reason: 'InvalidConfiguration' });
});

it('a server may not federate with itself', () => {
  expect(federationProblem(undefined, 'a.io')).toBeUndefined();
  expect(federationProblem([{ trustDomain: 'b.io' }], 'a.io')).toBeUndefined();
  expect(federationProblem([{ trustDomain: 'a.io' }], 'a.io')).toMatchObject({ reason: 'InvalidFederation' });
});

it('the first problem decides', () => {
  expect(validity(undefined, undefined)).toMatchObject({ status: true, reason: 'ConfigurationValid' });
  expect(validity(undefined, { reason: 'A', message: 'a' }, { reason: 'B', message: 'b' })).toMatchObject({
    status: false,
    reason: 'A',
  });
});
