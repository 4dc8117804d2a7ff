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
        `Vault does not let us read ${where}: let a policy of our role say path "${path}" { capabilities = ["read"] }`,
      );
    case 'not-found':
      return problem(answer, read, kind, `Vault has nothing at ${where}: ${missing(answer)}`);
    case 'transient':
      return problem(answer, read, kind, `Vault cannot read ${where} now (status ${answer.status}); it is tried again`);
    default:
      // The error text of the store is left out, because it may quote anything.
      return problem(
        answer,
        read,
        kind,
        `Vault refuses to read ${where} (status ${answer.status}): correct the path or the version; the audit log of Vault has its own words`,
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
      `Vault cannot log us in at ${where} now (status ${answer.status}); it is tried again`,
    );
  }
  return problem(
    answer,
    login,
    'denied',
    `Vault does not log us in at ${where}: ${errorsOf(answer, credentials)}; correct vault.auth, or the role at Vault`,
  );
}

/** answerProblem returns the error of a response that Vault would not send. */
export function answerProblem(answer: HttpAnswer, read: FailedRead): ProviderError {
  return problem(
    answer,
    read,
    'refused',
    `what was answered at ${read.path} is not what Vault answers: check the address, and whether the mount is of KV version 1`,
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
    ? 'there is no such mount; one whose name has several segments is named in vault.kv2Mounts or vault.kv1Mounts'
    : 'create the secret or correct the path; a mount of KV version 1 is named in vault.kv1Mounts';
}

function errorsOf(answer: HttpAnswer, credentials: readonly string[] = []): string {
  const { errors } = (answer.json ?? {}) as { readonly errors?: unknown };
  const texts = Array.isArray(errors) ? errors.filter((each) => typeof each === 'string') : [];
  return said(texts.join('; '), credentials) || `status ${answer.status}`;
}
