import { GitError, type GitErrorReason } from './git-error.ts';

/** HttpOutcome holds what is known about the last HTTP response that git received. */
export interface HttpOutcome {
  /** The status; undefined if no response was received. */
  readonly status: number | undefined;
  /** The host of the Location header, if it is a valid one. */
  readonly redirectHost: string | undefined;
}

/** GitFailure holds what is known about a git process that failed. */
export interface GitFailure {
  /** The host of the remote; undefined for a command without one. */
  readonly host: string | undefined;
  /** The standard error of git in the C locale. It may contain text of the server and never leaves this file. */
  readonly stderr: string;
  readonly http: HttpOutcome;
}

type Pattern = readonly [RegExp, GitErrorReason];

/** What git, curl, OpenSSH and the TLS libraries print, most specific first. Servers print some of these too, over SSH. */
const PATTERNS: readonly Pattern[] = [
  [/REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/, 'HostKeyChanged'],
  [/transport '[^']*' not allowed|protocol '[^']*' is not supported|unable to find remote helper/, 'ProtocolRefused'],
  [
    /SSL certificate problem|certificate verif|SSL_ERROR|SSL_connect|gnutls|schannel|SSL peer|SSL:|TLS connect error/i,
    'TlsFailed',
  ],
  [
    /Permission denied|Authentication failed|could not read Username|could not read Password|Too many authentication/,
    'AuthenticationFailed',
  ],
  [/Load key |error in libcrypto/, 'AuthenticationFailed'],
  [/not our ref|does not allow request for unadvertised object/, 'CommitGone'],
  [/couldn't find remote ref/, 'RefNotFound'],
  [/Repository not found|repository '[^']*' not found|does not appear to be a git repository/i, 'RepositoryNotFound'],
  [
    /Could not resolve host|Failed to connect|Connection refused|timed out|Network is unreachable|No route to host/,
    'HostUnreachable',
  ],
  [/Name or service not known|Temporary failure in name resolution|Couldn't connect to server/, 'HostUnreachable'],
  [/Connection reset|Connection closed by|Empty reply from server/, 'HostUnreachable'],
];

/** classifyFailure returns the error of a git process that failed. The result contains no text of the server. */
export function classifyFailure(failure: GitFailure): GitError {
  const { host } = failure;
  const reason = reasonOf(failure);
  const [problem, remedy] = texts(reason, { ...failure, host: host ?? 'the repository' });
  return new GitError(reason, problem, { host, remedy });
}

function reasonOf({ stderr, http: { status } }: GitFailure): GitErrorReason {
  if (/from proxy after CONNECT|Proxy CONNECT aborted/.test(stderr)) return 'HostUnreachable';
  // The status is more reliable than text. Statuses below 300 leave the decision to the text.
  if (status !== undefined && status >= 300) return reasonOfStatus(status);
  return PATTERNS.find(([pattern]) => pattern.test(stderr))?.[1] ?? 'GitFailed';
}

function reasonOfStatus(status: number): GitErrorReason {
  if (status < 400) return 'Redirected';
  if (status === 401 || status === 403) return 'AuthenticationFailed';
  if (status === 404 || status === 410) return 'RepositoryNotFound';
  return status === 407 || status === 429 || (status >= 502 && status <= 504) ? 'HostUnreachable' : 'GitFailed';
}

/** texts returns what happened and what to do. */
function texts(
  reason: GitErrorReason,
  { host, http }: { readonly host: string; readonly http: HttpOutcome },
): readonly [string, string] {
  const status = http.status === undefined || http.status < 300 ? '' : ` with status ${http.status}`;
  switch (reason) {
    case 'AuthenticationFailed':
      return [
        `${host} refused the credentials${status}`,
        'check that the Secret of git.auth holds a valid token or key that may read the repository',
      ];
    case 'RepositoryNotFound':
      return [`${host} has no such repository${status}`, 'correct git.repo, or allow the credentials to read it'];
    case 'RefNotFound':
      return [`${host} does not have the ref`, 'push it, or correct spec.git.ref'];
    case 'CommitGone':
      return [`${host} does not provide the commit`, 'push it again, or choose another git.ref'];
    case 'HostUnreachable':
      return [
        `${host} cannot be reached${status}`,
        'check its address, the network policies and the proxy; it is retried',
      ];
    case 'HostKeyChanged':
      return [
        `the host key of ${host} is not the pinned or known one, and nothing was sent`,
        'if the change is intended, update the known hosts or remove the pinned key',
      ];
    case 'TlsFailed':
      return [
        `the certificate of ${host} is not trusted, or TLS failed`,
        'set git.caSecretRef to its certificate authority, or renew the certificate',
      ];
    case 'Redirected':
      return [
        `${host} redirects to ${http.redirectHost ?? 'another address'}, and credentials are sent only to the configured one`,
        'set git.repo to the final address',
      ];
    case 'ProtocolRefused':
      return [`the protocol is not allowed for ${host}`, 'use an https or ssh address in git.repo'];
    case 'Timeout':
      return [`${host} did not finish in time`, 'increase gitTimeout if the repository is large; it is retried'];
    case 'TooLarge':
      return [`${host} sends more than is allowed`, 'increase maxRepositoryMiB, or make the repository smaller'];
    case 'VerificationFailed':
      return ['the signature is not valid', 'sign it with a key in the Secret of git.verify'];
    case 'PushRefused':
      return [`${host} refused the push${status}`, 'use credentials in git.auth that may write'];
    case 'GitFailed':
      return [`git failed for ${host}${status}`, 'it is retried; check the log of the Git server'];
  }
}
