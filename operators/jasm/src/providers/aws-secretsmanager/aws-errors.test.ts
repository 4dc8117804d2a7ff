import { describe, expect, it } from 'vitest';
import { awsError, itemError } from './aws-errors.ts';
import { AwsStore, NEVER, refTo } from './aws-store.test-support.ts';

const CALL = { operation: 'GetSecretValue', secret: 'prod/db' } as const;

/** Returns an AWS error as the SDK throws it. */
function thrown(name: string, status: number, message = 'said'): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } });
}

describe('awsError', () => {
  it.each([
    // AWS returns 400 for all of these.
    ['ResourceNotFoundException', 400, 'not-found'],
    ['AccessDeniedException', 400, 'denied'],
    ['ThrottlingException', 400, 'transient'],
    ['InternalServiceError', 400, 'transient'],
    ['InternalServiceError', 500, 'transient'],
    ['InvalidRequestException', 400, 'refused'],
    ['InvalidParameterException', 400, 'refused'],
    ['DecryptionFailure', 400, 'refused'],
    ['ExpiredTokenException', 400, 'denied'],
    ['UnrecognizedClientException', 400, 'denied'],
    // As other implementations respond.
    ['ResourceNotFoundException', 404, 'not-found'],
    ['AccessDenied', 403, 'denied'],
    // Unknown names: the status decides.
    ['Unheard', 404, 'not-found'],
    ['Unheard', 403, 'denied'],
    ['Unheard', 401, 'denied'],
    ['Unheard', 429, 'transient'],
    ['Unheard', 503, 'transient'],
    ['Unheard', 418, 'refused'],
    // A page of an intermediary.
    ['SyntaxError', 200, 'transient'],
  ] as const)('classifies %s with status %i as %s', (name, status, kind) => {
    expect(awsError(thrown(name, status), CALL).kind).toBe(kind);
  });

  it.each([
    ['ECONNRESET', 'transient'],
    ['ECONNREFUSED', 'transient'],
    ['ENOTFOUND', 'transient'],
    ['EAI_AGAIN', 'transient'],
    ['ETIMEDOUT', 'transient'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'refused'],
    ['CERT_HAS_EXPIRED', 'refused'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'refused'],
  ] as const)('classifies the network error %s as %s', (code, kind) => {
    const error = awsError(Object.assign(new Error('connect'), { code }), CALL);
    expect([error.kind, error.code]).toEqual([kind, code]);
  });

  it.each([
    [
      thrown('AccessDeniedException', 400),
      /access denied \(AccessDeniedException\).*needs secretsmanager:GetSecretValue on the secret$/,
    ],
    [thrown('AccessDeniedException', 400, 'Access to KMS is not allowed'), /allow kms:Decrypt/],
    [thrown('ResourceNotFoundException', 400), /does not exist in this account and region/],
    [
      thrown('ResourceNotFoundException', 400, "can't find … staging label: AWSCURRENT"),
      /the version of the secret does not exist, or has no value/,
    ],
    [thrown('ThrottlingException', 400), /temporarily unavailable \(ThrottlingException\); it is retried$/],
    [
      thrown('DecryptionFailure', 400, 'cannot decrypt'),
      /cannot decrypt the secret \(DecryptionFailure\); check .* KMS key$/,
    ],
  ])('explains %s with what to do', (error, words) => {
    const { message } = awsError(error, CALL);
    expect(message).toMatch(/^GetSecretValue of prod\/db: /);
    expect(message).toMatch(words);
  });

  it('does not repeat the error text of AWS, which may contain the caller and values', () => {
    const { message } = awsError(thrown('InvalidParameterException', 400, 'Request 5f0c7127 of "canary"'), CALL);
    expect(message).toBe(
      'GetSecretValue of prod/db: Secrets Manager rejected the request (InvalidParameterException); check the path and the version, and look for details in CloudTrail',
    );
    const denied = awsError(thrown('AccessDeniedException', 400, 'User: arn:aws:iam::1:user/alice is not'), CALL);
    expect(denied.message).not.toContain('alice');
  });

  it('shows errors of the SDK without keys and tokens', () => {
    const said = 'cannot sign 5f0c7127-f8cd-4a0f-9d5e-9d6d1f2b3c4d with\nASIAQWERTYUIOPASDFGH';
    const { message } = awsError(Object.assign(new Error(said), { name: 'SigningError' }), CALL);
    expect(message).toBe('GetSecretValue of prod/db: the request failed (SigningError: cannot sign … with …)');
  });

  it('does not quote a response that cannot be parsed', () => {
    const quoting = 'Unexpected token \'c\', "canary" is not valid JSON';
    for (const status of [200, 400, 403, 404, 500]) {
      expect(awsError(thrown('SyntaxError', status, quoting), CALL).message).not.toContain('canary');
    }
  });

  it('uses the retry delay of the response', () => {
    const error = Object.assign(thrown('ThrottlingException', 400), { $response: { headers: { 'retry-after': '7' } } });
    expect(awsError(error, CALL).retryAfterMs).toBe(7000);
    expect(awsError(thrown('ThrottlingException', 400), CALL).retryAfterMs).toBeUndefined();
  });
});

describe('itemError', () => {
  const canary = 'cannot use "canary" of the request';

  it.each([
    ['ResourceNotFoundException', 'not-found', 'ResourceNotFoundException', /the secret does not exist/],
    ['AccessDeniedException', 'denied', 'AccessDeniedException', /needs secretsmanager:GetSecretValue on the secret$/],
    [
      'InvalidRequestException',
      'refused',
      'InvalidRequestException',
      /rejected the request \(InvalidRequestException\)/,
    ],
    [
      'InvalidParameterException',
      'refused',
      'InvalidParameterException',
      /rejected the request \(InvalidParameterException\)/,
    ],
    ['DecryptionFailure', 'refused', 'DecryptionFailure', /cannot decrypt the secret .* KMS key$/],
    // Reading the secret alone determines what these mean.
    ['InternalError', 'transient', 'InternalError', /temporarily unavailable \(InternalError\); it is retried$/],
    ['Strange canary', 'transient', 'Unknown', /temporarily unavailable \(Unknown\); it is retried$/],
    [undefined, 'transient', 'Unknown', /temporarily unavailable \(Unknown\); it is retried$/],
  ] as const)('classifies %s as %s with the code %s, without repeating its text', (ErrorCode, kind, code, words) => {
    const error = itemError({ SecretId: 'prod/db', ErrorCode, Message: canary }, CALL);
    expect([error.kind, error.code]).toEqual([kind, code]);
    expect(error.message).toMatch(words);
    expect(error.message).not.toContain('canary');
  });

  it('derives from the error text what to do about a deleted secret, a missing version and a key', () => {
    const said = (ErrorCode: string, Message: string): string => itemError({ ErrorCode, Message }, CALL).message;
    expect(said('InvalidRequestException', 'it was marked for deletion')).toContain('scheduled for deletion');
    expect(said('ResourceNotFoundException', 'staging label: AWSCURRENT')).toContain(
      'the version of the secret does not exist',
    );
    expect(said('AccessDeniedException', 'Access to KMS is not allowed')).toContain('kms:Decrypt');
  });
});

describe('responses of Secrets Manager', () => {
  it.each(['ThrottlingException', 'InternalServiceError'])('%s is transient', async (code) => {
    await using store = await AwsStore.start();
    store.fake.put('prod/db', 'one');
    store.fake.fail('GetSecretValue', code);
    const provider = store.provider();
    await expect(provider.fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({ kind: 'transient', code });
    await provider.fetchSecret(refTo('prod/db'), NEVER);
    expect(store.fake.made).toHaveLength(2);
  });

  it.each([
    ['a truncated response', 'cut' as const],
    ['the error page of a proxy', { status: 502, body: '<html>bad gateway</html>' }],
    ['a web page instead of a response', { status: 200, body: '<html>log in</html>' }],
  ])('%s is transient', async (_, fault) => {
    await using store = await AwsStore.start();
    store.fake.put('prod/db', 'one');
    store.fake.http.fail(/^\/$/, fault);
    const provider = store.provider();
    await expect(provider.fetchSecret(refTo('prod/db'), NEVER)).rejects.toMatchObject({ kind: 'transient' });
  });
});
