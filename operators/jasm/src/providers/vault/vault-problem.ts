import { statusKind } from '../http/http-problem.ts';
import type { HttpResponse } from '../http/json-http.ts';
import { sanitizeErrorText } from '../http/sanitize-error-text.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';

/** FailedRead identifies the failed request to Vault. */
export interface FailedRead {
  readonly operation: string;
  /** Below /v1. */
  readonly path: string;
  readonly inNamespace: string;
  /** The credentials that were sent, so that no message repeats them. Defaults to none. */
  readonly credentials?: readonly string[];
}

/** readProblem returns the error of a refused read. */
export function readProblem(response: HttpResponse, read: FailedRead): ProviderError {
  const { path, inNamespace } = read;
  const kind = kindOf(response);
  const location = `${path}${inNamespace}`;
  switch (kind) {
    case 'denied':
      return problem(
        response,
        read,
        kind,
        `Vault denies access to ${location}: add to a policy of the operator's role: path "${path}" { capabilities = ["read"] }`,
      );
    case 'not-found':
      return problem(response, read, kind, `Vault has no secret at ${location}: ${notFoundHint(response)}`);
    case 'transient':
      return problem(
        response,
        read,
        kind,
        `Vault is temporarily unavailable for ${location} (status ${response.status}); it is retried`,
      );
    default:
      // The error text of the store is left out, because it may quote anything.
      return problem(
        response,
        read,
        kind,
        `Vault rejected the request for ${location} (status ${response.status}): correct the path or the version, and look for details in the audit log of Vault`,
      );
  }
}

/** loginProblem returns the error of a refused login. */
export function loginProblem(response: HttpResponse, login: FailedRead): ProviderError {
  const { path, inNamespace, credentials } = login;
  const location = `${path}${inNamespace}`;
  if (kindOf(response) === 'transient') {
    return problem(
      response,
      login,
      'transient',
      `cannot log in to Vault at ${location} at the moment (status ${response.status}); it is retried`,
    );
  }
  return problem(
    response,
    login,
    'denied',
    `Vault denies the login at ${location}: ${errorsOf(response, credentials)}; correct vault.auth, or the role in Vault`,
  );
}

/** responseProblem returns the error of a response that Vault would not send. */
export function responseProblem(response: HttpResponse, read: FailedRead): ProviderError {
  return problem(
    response,
    read,
    'refused',
    `unexpected response at ${read.path}, which is not from the KV engine of Vault: check the address, and whether the mount uses KV version 1`,
  );
}

function problem(
  response: HttpResponse,
  { operation }: FailedRead,
  kind: ProviderErrorKind,
  message: string,
): ProviderError {
  const code = String(response.status);
  return new ProviderError(message, { kind, provider: 'vault', operation, code, retryAfterMs: response.retryAfterMs });
}

/**
 * 412 is returned by a node that has not yet received the writes of another node, and 400 with this message by a mount
 * that has just become versioned.
 */
function kindOf({ status, text }: HttpResponse): ProviderErrorKind {
  const isUpgrading = status === 400 && text.includes('Upgrading from non-versioned to versioned');
  return status === 412 || isUpgrading ? 'transient' : statusKind(status);
}

function notFoundHint(response: HttpResponse): string {
  // The response for a path without a mount contains this text.
  return /no handler for route/.test(response.text)
    ? 'the mount does not exist; list a mount whose name has several segments in vault.kv2Mounts or vault.kv1Mounts'
    : 'create the secret, or correct the path; list a mount of KV version 1 in vault.kv1Mounts';
}

function errorsOf(response: HttpResponse, credentials: readonly string[] = []): string {
  const { errors } = (response.json ?? {}) as { readonly errors?: unknown };
  const texts = Array.isArray(errors) ? errors.filter((each) => typeof each === 'string') : [];
  return sanitizeErrorText(texts.join('; '), credentials) || `status ${response.status}`;
}
