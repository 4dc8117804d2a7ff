import { type ClientHttp2Session, connect } from 'node:http2';

/** Connection is where a subject finds the API server and who it is there: plain PEM, so that a bare loop parses no YAML. */
export interface Connection {
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** openSession connects one bare HTTP/2 session, with flow-control windows wide enough that they are not what is measured. */
export function openSession(connection: Connection): ClientHttp2Session {
  const { server, ca, cert, key } = connection;
  const session = connect(server, { ca, cert, key, settings: { initialWindowSize: streamWindowBytes } });
  session.once('connect', () => session.setLocalWindowSize(sessionWindowBytes));
  return session;
}

const streamWindowBytes = 4 * 1024 * 1024;
const sessionWindowBytes = 16 * 1024 * 1024;
