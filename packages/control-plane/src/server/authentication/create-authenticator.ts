import type { ApiRequest, ClientCertificate } from '../http/api-request.ts';
import type { ServiceAccountTokens, TokenOutcome } from './service-account-tokens.ts';
import { authenticated, type StaticToken, StaticTokens } from './static-tokens.ts';
import { ANONYMOUS, CREDENTIAL_ID, type UserInfo } from './user-info.ts';

/** Authenticator determines the user of a request. */
export interface Authenticator {
  /**
   * authenticate returns undefined if the credentials of the request are invalid; a request without credentials is
   * anonymous.
   */
  authenticate(request: ApiRequest): Promise<UserInfo | undefined> | UserInfo | undefined;
}

/** Longer tokens are rejected: no token of ours is half as long. */
const MAX_TOKEN_LENGTH = 16 * 1024;

/** AuthenticatorOptions configures the users that are accepted. */
export interface AuthenticatorOptions {
  readonly serviceAccounts: ServiceAccountTokens;
  /** Defaults to none. */
  readonly tokens?: readonly StaticToken[] | undefined;
}

/** TokenAuthenticator determines the user of a request, and the owner of a token that another server received. */
export interface TokenAuthenticator extends Authenticator {
  authenticate(request: ApiRequest): UserInfo | undefined;
  /**
   * authenticateToken verifies a token other than the request's own. Without audiences it must be meant for this
   * server.
   */
  authenticateToken(token: string, audiences?: readonly string[]): TokenOutcome;
}

/**
 * createAuthenticator accepts client certificates and bearer tokens, in this order. Invalid credentials are rejected;
 * requests without credentials are anonymous, and so is every request over plain HTTP, because credentials sent there
 * may have been seen by others.
 */
export function createAuthenticator({ serviceAccounts, tokens = [] }: AuthenticatorOptions): TokenAuthenticator {
  const known = new StaticTokens(tokens);
  const authenticateToken = (token: string, audiences: readonly string[] = serviceAccounts.audiences): TokenOutcome => {
    if (token.length > MAX_TOKEN_LENGTH) return { problem: undefined };
    const user = known.find(token);
    if (!user) return serviceAccounts.authenticate(token, audiences);
    const matching = audiences.filter((audience) => serviceAccounts.audiences.includes(audience));
    return matching.length === 0 ? { problem: undefined } : { user, audiences: matching };
  };
  return {
    authenticateToken,
    authenticate({ connection, headers }) {
      if (!connection.isSecure) return ANONYMOUS;
      const certificateOwner = connection.certificate && certificateUser(connection.certificate);
      if (certificateOwner) return certificateOwner;
      const token = bearerToken(headers.authorization);
      if (token === undefined) return connection.hasInvalidCertificate ? undefined : ANONYMOUS;
      const outcome = authenticateToken(token);
      return 'user' in outcome ? outcome.user : undefined;
    },
  };
}

function certificateUser({ commonName, organizations, fingerprint }: ClientCertificate): UserInfo | undefined {
  if (commonName === '') return undefined;
  const extra = fingerprint === undefined ? undefined : { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] };
  return authenticated({ username: commonName, groups: organizations, extra });
}

/** bearerToken returns the token of an Authorization header; undefined for other schemes and for a missing header. */
export function bearerToken(header: string | undefined): string | undefined {
  const [scheme, token] = (header ?? '').trim().split(' ', 3);
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined;
}
