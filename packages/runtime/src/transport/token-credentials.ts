import type { Credentials, RequestHeaders } from './connection-config.ts';

/**
 * TokenSource is a bearer token, or a function that returns the current one. The function is called for every request,
 * so it should cache the token.
 */
export type TokenSource = string | (() => string | Promise<string>);

/** tokenCredentials returns credentials with a bearer token. */
export function tokenCredentials(source: TokenSource): Credentials {
  if (typeof source === 'string') {
    const headers = bearer(source);
    return { headers: () => headers, refresh: () => Promise.resolve(false) };
  }
  const headers = (): RequestHeaders | Promise<RequestHeaders> => {
    const token = source();
    return token instanceof Promise ? token.then(bearer) : bearer(token);
  };
  return {
    headers,
    refresh: async (rejected) => (await headers()).authorization !== rejected.headers.authorization,
  };
}

function bearer(token: string): RequestHeaders {
  return { authorization: `Bearer ${token.trim()}` };
}
