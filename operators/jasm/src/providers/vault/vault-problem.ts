import { statusKind } from '../http/http-problem.ts';
import type { HttpAnswer } from '../http/json-http.ts';
import { said } from '../http/said.ts';
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
export function readProblem(answer: HttpAnswer, read: FailedRead): ProviderError {
  const { path, inNamespace } = read;
  const kind = kindOf(answer);
  const where = `${path}${inNamespace}`;
  switch (kind) {
    case 'denied':
      return problem(
        answer,
        read,
        kind,
        `Vault denies access to ${where}: add to a policy of the operator's role: path "${path}" { capabilities = ["read"] }`,
      );
    case 'not-found':
      return problem(answer, read, kind, `Vault has no secret at ${where}: ${missing(answer)}`);
    case 'transient':
      return problem(
        answer,
        read,
        kind,
        `Vault is temporarily unavailable for ${where} (status ${answer.status}); it is retried`,
      );
    default:
      // The error text of the store is left out, because it may quote anything.
      return problem(
        answer,
        read,
        kind,
        `Vault rejected the request for ${where} (status ${answer.status}): correct the path or the version, and look for details in the audit log of Vault`,
      );
  }
}

/** loginProblem returns the error of a refused login. */
export function loginProblem(answer: HttpAnswer, login: FailedRead): ProviderError {
  const { path, inNamespace, credentials } = login;
  const where = `${path}${inNamespace}`;
  if (kindOf(answer) === 'transient') {
    return problem(
      answer,
      login,
      'transient',
      `cannot log in to Vault at ${where} at the moment (status ${answer.status}); it is retried`,
    );
  }
  return problem(
    answer,
    login,
    'denied',
    `Vault denies the login at ${where}: ${errorsOf(answer, credentials)}; correct vault.auth, or the role in Vault`,
  );
}

/** answerProblem returns the error of a response that Vault would not send. */
export function answerProblem(answer: HttpAnswer, read: FailedRead): ProviderError {
  return problem(
    answer,
    read,
    'refused',
    `unexpected response at ${read.path}, which is not from the KV engine of Vault: check the address, and whether the mount uses KV version 1`,
  );
}

function problem(
  answer: HttpAnswer,
  { operation }: FailedRead,
  kind: ProviderErrorKind,
  message: string,
): ProviderError {
  const code = String(answer.status);
  return new ProviderError(message, { kind, provider: 'vault', operation, code, retryAfterMs: answer.retryAfterMs });
}

/**
 * 412 is returned by a node that has not yet received the writes of another node, and 400 with this message by a mount
 * that has just become versioned.
 */
function kindOf({ status, text }: HttpAnswer): ProviderErrorKind {
  const isUpgrading = status === 400 && text.includes('Upgrading from non-versioned to versioned');
  return status === 412 || isUpgrading ? 'transient' : statusKind(status);
}

function missing(answer: HttpAnswer): string {
  // The response for a path without a mount contains this text.
  return /no handler for route/.test(answer.text)
    ? 'the mount does not exist; list a mount whose name has several segments in vault.kv2Mounts or vault.kv1Mounts'
    : 'create the secret, or correct the path; list a mount of KV version 1 in vault.kv1Mounts';
}

function errorsOf(answer: HttpAnswer, credentials: readonly string[] = []): string {
  const { errors } = (answer.json ?? {}) as { readonly errors?: unknown };
  const texts = Array.isArray(errors) ? errors.filter((each) => typeof each === 'string') : [];
  return said(texts.join('; '), credentials) || `status ${answer.status}`;
}
