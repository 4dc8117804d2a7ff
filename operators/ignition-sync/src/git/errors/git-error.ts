import { BowlineError } from '@bowline/machinery';

/** GitErrorReason is the class of a failed git operation. The values are reasons of conditions and events: part of the API. */
export type GitErrorReason =
  | 'AuthenticationFailed'
  | 'RepositoryNotFound'
  | 'RefNotFound'
  | 'CommitGone'
  | 'HostUnreachable'
  | 'HostKeyChanged'
  | 'TlsFailed'
  | 'Redirected'
  | 'Timeout'
  | 'TooLarge'
  | 'ProtocolRefused'
  | 'VerificationFailed'
  | 'PushRefused'
  | 'GitFailed';

/**
 * GitError is a failed git operation. Its message is displayed to users: it contains the class, the host and what to do, and no
 * text that a server sent, because a server could place anything there, also the credential that it received.
 */
export class GitError extends BowlineError {
  readonly reason: GitErrorReason;
  /** The host that the operation was for; undefined if it needed none. */
  readonly host: string | undefined;

  constructor(
    reason: GitErrorReason,
    problem: string,
    { host, remedy }: { readonly host?: string | undefined; readonly remedy: string },
  ) {
    super('BOWLINE_GIT_OPERATION', `${reason}: ${problem}; ${remedy}`, { retryable: true });
    this.name = 'GitError';
    this.reason = reason;
    this.host = host;
  }
}
