import { type ClientHttp2Session, connect } from 'node:http2';
import type { KubeconfigDocument } from '@bowline/control-plane';

/** Connection holds the address and the credentials of a subject, as plain PEM, so that a bare loop need not parse YAML. */
export interface Connection {
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** connectionOf converts a kubeconfig with a client certificate. */
export function connectionOf({ clusters, users }: KubeconfigDocument): Connection {
  const { user } = users[0];
  if (!('client-certificate-data' in user)) throw new TypeError('the administrator has no client certificate');
  return {
    server: clusters[0].cluster.server,
    ca: text(clusters[0].cluster['certificate-authority-data']),
    cert: text(user['client-certificate-data']),
    key: text(user['client-key-data']),
  };
}

function text(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

/** openSession opens one bare HTTP/2 session, with flow-control windows large enough not to affect the measurement. */
export function openSession(connection: Connection): ClientHttp2Session {
  const { server, ca, cert, key } = connection;
  const session = connect(server, { ca, cert, key, settings: { initialWindowSize: streamWindowBytes } });
  session.once('connect', () => session.setLocalWindowSize(sessionWindowBytes));
  return session;
}

/** connected resolves once a session can be used. A session that fails rejects, or ends the process if that is not awaited. */
export function connected(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    session.once('connect', () => resolve());
    session.on('error', reject);
  });
}

const streamWindowBytes = 4 * 1024 * 1024;
const sessionWindowBytes = 16 * 1024 * 1024;
