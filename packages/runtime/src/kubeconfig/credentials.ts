import type {
  ClientCertificate,
  Credentials,
  RejectedCredentials,
  RequestHeaders,
} from '../transport/connection-config.ts';

const NOTHING: RequestHeaders = {};

/** tokenCredentials always send the same bearer token. */
export function tokenCredentials(token: string): Credentials {
  const headers = { authorization: `Bearer ${token.trim()}` };
  return { headers: () => headers, refresh: () => Promise.resolve(false) };
}

/** basicCredentials send a user name and a password. API servers stopped accepting them in 1.19; proxies in front may not have. */
export function basicCredentials(username: string, password: string): Credentials {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  return { headers: () => headers, refresh: () => Promise.resolve(false) };
}

/**
 * certificateCredentials present a client certificate. `load` is called for each new connection, and after a 401 to see
 * whether the files have another one by now.
 */
export function certificateCredentials(load: () => Promise<ClientCertificate>): Credentials {
  return {
    headers: () => NOTHING,
    certificate: load,
    refresh: async (rejected) => (await load()).certificatePem !== rejected.certificatePem,
  };
}

/** combineCredentials sends the headers of all and presents the first certificate: a user may have both. */
export function combineCredentials(parts: readonly Credentials[]): Credentials | undefined {
  const [only] = parts;
  if (parts.length <= 1) return only;
  const withCertificate = parts.find((part) => part.certificate !== undefined);
  return {
    headers: () => {
      const given = parts.map((part) => part.headers());
      const ready = given.filter((headers): headers is RequestHeaders => !(headers instanceof Promise));
      return ready.length === given.length ? join(ready) : Promise.all(given.map(resolved)).then(join);
    },
    ...(withCertificate ? { certificate: () => Promise.resolve(withCertificate.certificate?.()) } : {}),
    refresh: async (rejected: RejectedCredentials) => {
      const changed = await Promise.all(parts.map((part) => part.refresh(rejected)));
      return changed.includes(true);
    },
  };
}

function join(parts: readonly RequestHeaders[]): RequestHeaders {
  return Object.assign({}, ...parts) as RequestHeaders;
}

function resolved(headers: RequestHeaders | Promise<RequestHeaders>): Promise<RequestHeaders> {
  return Promise.resolve(headers);
}
