import type { APIErrorType } from '@aws-sdk/client-secrets-manager';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';

/** AwsCall describes the attempted call. */
export interface AwsCall {
  readonly operation: 'GetSecretValue' | 'DescribeSecret' | 'BatchGetSecretValue';
  /** The requested secret, as messages name it. */
  readonly secret: string;
}

/** CredentialsError is a failure to get credentials, before Secrets Manager was called. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
  /** The role that was to be assumed; undefined for the credentials of the operator itself. */
  readonly role: string | undefined;

  constructor(role: string | undefined, cause: unknown) {
    super('no credentials', { cause });
    this.role = role;
  }
}

/** PROVIDER is the provider's name. */
export const PROVIDER = 'aws-secretsmanager';

/**
 * By name, because the status is not specific: AWS returns 400 for a missing secret, a missing permission and too many
 * requests alike, and InternalServiceError with 400 in one place and 500 in another.
 */
const KINDS: Readonly<Record<string, ProviderErrorKind>> = {
  ...kindsByName('transient', [
    'InternalServiceError',
    'InternalServiceErrorException',
    'InternalFailure',
    'InternalServerError',
    'InternalServerException',
    'ServiceUnavailable',
    'ServiceUnavailableException',
    'Throttling',
    'ThrottlingException',
    'ThrottledException',
    'RequestThrottled',
    'RequestThrottledException',
    'RequestLimitExceeded',
    'BandwidthLimitExceeded',
    'TooManyRequestsException',
    'LimitExceededException',
    'SlowDown',
    'PriorRequestNotComplete',
    'RequestTimeout',
    'RequestTimeoutException',
    'TimeoutError',
    'IDPCommunicationError',
    'RequestExpired',
    'RequestInTheFuture',
    'RequestTimeTooSkewed',
  ]),
  ...kindsByName('not-found', ['ResourceNotFoundException']),
  ...kindsByName('denied', [
    'AccessDenied',
    'AccessDeniedException',
    'UnauthorizedOperation',
    'UnrecognizedClientException',
    'InvalidClientTokenId',
    'InvalidSignatureException',
    'SignatureDoesNotMatch',
    'IncompleteSignature',
    'IncompleteSignatureException',
    'MissingAuthenticationToken',
    'MissingAuthenticationTokenException',
    'ExpiredToken',
    'ExpiredTokenException',
    'InvalidIdentityToken',
    'InvalidIdentityTokenException',
    'IDPRejectedClaim',
    'OptInRequired',
    'NotAuthorized',
    'CredentialsProviderError',
    'TokenProviderError',
  ]),
  ...kindsByName('refused', [
    'InvalidRequestException',
    'InvalidParameterException',
    'InvalidParameter',
    'ValidationException',
    'ValidationError',
    'DecryptionFailure',
    'DecryptionFailureException',
  ]),
};

/** The errors for a missing permission to one call; the last is the code of a response that cannot be parsed. */
const DENIALS: ReadonlySet<string> = new Set(['AccessDeniedException', 'AccessDenied', '403']);

/** The errors of an endpoint that does not support the call: an older one, or an emulation of AWS. */
const UNKNOWN_CALLS: ReadonlySet<string> = new Set(['UnknownOperationException', 'UnknownOperation', 'InvalidAction']);

/** The failure, as far as it is known. */
interface Failure {
  readonly kind: ProviderErrorKind;
  readonly code: string;
  /** The error text, to distinguish cases. If it comes from a store, it is not shown: it may quote anything. */
  readonly errorText: string;
  /** Whether the failure is a response of a store. */
  readonly isAnswer: boolean;
  readonly retryAfterMs: number | undefined;
}

/** awsError converts the error of a failed call to a ProviderError. */
export function awsError(error: unknown, call: AwsCall): ProviderError {
  if (error instanceof CredentialsError) return credentialsError(error, call);
  const failure = failureOf(error);
  return providerError(messageFor(failure, call), failure, call.operation);
}

/**
 * itemError converts the error of one secret in the response to a batch. Such an error has no status: the meaning of an
 * unknown code is determined by reading that secret alone, as for every transient error.
 */
export function itemError({ ErrorCode: name = '', Message: message = '' }: APIErrorType, call: AwsCall): ProviderError {
  const kind = kindNamed(name) ?? 'transient';
  const code = isWord(name) ? name : 'Unknown';
  const failure: Failure = { kind, code, errorText: redact(message), isAnswer: true, retryAfterMs: undefined };
  return providerError(messageFor(failure, call), failure, call.operation);
}

/** isDenied reports whether this call was denied, as opposed to the identity that makes it. */
export function isDenied(error: unknown): boolean {
  return !(error instanceof CredentialsError) && DENIALS.has(failureOf(error).code);
}

/**
 * listRefusal returns what was refused when a batch call failed as a whole: this `list`, which may contain an id that
 * AWS rejects, or the `call` itself. Undefined if neither was: each secret alone would fail in the same way.
 */
export function listRefusal(error: unknown): 'list' | 'call' | undefined {
  if (error instanceof CredentialsError) return undefined;
  const { kind, code, isAnswer } = failureOf(error);
  if (DENIALS.has(code) || UNKNOWN_CALLS.has(code)) return 'call';
  return isAnswer && (kind === 'refused' || kind === 'not-found') ? 'list' : undefined;
}

function messageFor({ kind, code, errorText, isAnswer }: Failure, { operation, secret }: AwsCall): string {
  const what = `${operation} of ${secret}`;
  switch (kind) {
    case 'not-found':
      return /staging label|VersionId/.test(errorText)
        ? `${what}: the version of the secret does not exist, or has no value; set a value, or specify another version`
        : `${what}: the secret does not exist in this account and region; create it, or correct the path`;
    case 'denied':
      return /kms/i.test(errorText)
        ? `${what}: access denied to the KMS key that encrypts the secret; allow kms:Decrypt on the key`
        : `${what}: access denied (${code}); the operator's identity needs secretsmanager:${operation}${operation === 'BatchGetSecretValue' ? ' and secretsmanager:GetSecretValue' : ''} on the secret`;
    case 'transient':
      return `${what}: Secrets Manager is temporarily unavailable (${code}); it is retried`;
    case 'refused':
      if (code === 'InvalidRequestException' && /delet/.test(errorText)) {
        return `${what}: the secret is scheduled for deletion; restore it, or use another secret`;
      }
      if (!isAnswer) return `${what}: the request failed (${code}${errorText === '' ? '' : `: ${errorText}`})`;
      if (code.startsWith('DecryptionFailure')) {
        return `${what}: Secrets Manager cannot decrypt the secret (${code}); check the state and the policy of its KMS key`;
      }
      return `${what}: Secrets Manager rejected the request (${code}); check the path and the version, and look for details in CloudTrail`;
  }
}

function credentialsError({ role, cause }: CredentialsError, { secret }: AwsCall): ProviderError {
  const failure = failureOf(cause);
  // Without a status, no request was made: there are no credentials, or they cannot be read.
  const kind = failure.kind === 'transient' ? 'transient' : 'denied';
  const operation = role === undefined ? 'GetCredentials' : 'AssumeRole';
  const details =
    role === undefined
      ? `cannot read ${secret}: found no valid AWS credentials (${failure.code}); give the operator's ServiceAccount a role (IRSA or EKS Pod Identity), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`
      : `cannot read ${secret}: cannot assume the role ${role} (${failure.code}); its trust policy must allow sts:AssumeRole for the operator's identity, with the configured external id and session tags`;
  const temporaryMessage = `cannot read ${secret}: AWS credentials are temporarily unavailable (${failure.code}); it is retried`;
  return providerError(kind === 'transient' ? temporaryMessage : details, { ...failure, kind }, operation);
}

function providerError(message: string, { kind, code, retryAfterMs }: Failure, operation: string): ProviderError {
  return new ProviderError(message, { kind, provider: PROVIDER, operation, code, retryAfterMs });
}

/** failureOf interprets what the SDK throws, which has many shapes. */
export function failureOf(error: unknown): Failure {
  const { name = '', message = '', code, $metadata, $response, $retryable } = (error ?? {}) as SdkError;
  const status = $metadata?.httpStatusCode;
  // The message of JSON.parse quotes the response.
  const errorText = name === 'SyntaxError' ? '' : redact(message);
  // The SDK has learned the time from this response, and signs the next request with it.
  const isSkewed = name === 'InvalidSignatureException' && /expired|not yet current/.test(errorText);
  const byName = isSkewed ? 'transient' : kindNamed(name);
  const seconds = Number($response?.headers?.['retry-after']);
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
  const details = { errorText, isAnswer: status !== undefined, retryAfterMs };
  if (byName) return { kind: byName, code: name, ...details };
  if ($retryable?.throttling) return { kind: 'transient', code: codeOf(name, 429), ...details };
  // A 200 that cannot be parsed is a truncated response, or not from Secrets Manager.
  if (status !== undefined) return { kind: kindOfStatus(status), code: codeOf(name, status), ...details };
  if (typeof code === 'string') return { kind: kindOfNetworkError(code), code, ...details, errorText: '' };
  if (/region is missing/i.test(message)) {
    return { kind: 'refused', code: 'NoRegion', ...details, errorText: 'set aws.region or AWS_REGION' };
  }
  return { kind: 'refused', code: name === '' ? 'Unknown' : name, ...details };
}

interface SdkError {
  readonly name?: string;
  readonly message?: string;
  /** The code of a Node error, for the network and TLS. */
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
  readonly $retryable?: { readonly throttling?: boolean };
}

function kindNamed(name: string): ProviderErrorKind | undefined {
  return Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
}

function kindOfStatus(status: number): ProviderErrorKind {
  if (status === 429 || status >= 500 || status < 300) return 'transient';
  if (status === 404) return 'not-found';
  return status === 401 || status === 403 ? 'denied' : 'refused';
}

function codeOf(name: string, status: number): string {
  return isWord(name) && !['Error', 'UnknownError', 'SyntaxError', 'Unknown'].includes(name) ? name : String(status);
}

/** Codes are shown: names of AWS errors pass, but no text that may quote something. */
function isWord(name: string): boolean {
  return /^[A-Za-z]{1,64}$/.test(name);
}

/** An untrusted certificate stays untrusted; any other network error may be transient. */
function kindOfNetworkError(code: string): ProviderErrorKind {
  return /CERT|^ERR_TLS|^ERR_SSL|SELF_SIGNED|^ERR_INVALID/.test(code) ? 'refused' : 'transient';
}

/** redact removes parts that differ each time or are confidential: ids, keys, the caller. */
function redact(message: string): string {
  return message
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '…')
    .replace(/\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{8,}\b/g, '…')
    .replace(/[A-Za-z0-9+/=_-]{40,}/g, '…')
    .replace(/\s+/g, ' ')
    .slice(0, 200)
    .trim();
}

function kindsByName(kind: ProviderErrorKind, names: readonly string[]): Record<string, ProviderErrorKind> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}
