import type {
  ClientCertificate,
  Credentials,
  RejectedCredentials,
  RequestHeaders,
} from '../transport/connection-config.ts';

const NO_HEADERS: RequestHeaders = {};

/**
 * basicCredentials returns credentials with a user name and a password. API servers stopped accepting them in 1.19; a
 * proxy in front may still do.
 */
export function basicCredentials(username: string, password: string): Credentials {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  return { headers: () => headers, refresh: () => Promise.resolve(false) };
}

/**
 * certificateCredentials returns credentials with a client certificate. `load` is called for each new connection, and
 * after a 401 to check whether the files contain a new certificate.
 */
export function certificateCredentials(load: () => Promise<ClientCertificate>): Credentials {
  return {
    headers: () => NO_HEADERS,
    certificate: load,
    refresh: async (rejected) => (await load()).certificatePem !== rejected.certificatePem,
  };
}

/** combineCredentials sends the headers of all parts and uses the first certificate, because a user may have both. */
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
