import { GitError } from '../errors/git-error.ts';

/** GitScheme is a protocol that repositories are fetched with. */
export type GitScheme = 'https' | 'http' | 'ssh';

/** GitUrl is a checked address of a repository. */
export interface GitUrl {
  /** As configured. */
  readonly text: string;
  readonly scheme: GitScheme;
  /** Scheme, host and port: what credentials are bound to. */
  readonly origin: string;
  /** The host, with the port if it is not the default: for messages. */
  readonly host: string;
  /** The user in the address, for SSH; empty if there is none. */
  readonly user: string;
}

/** GitUrlOptions configures which addresses are allowed. */
export interface GitUrlOptions {
  /** Whether `http:` is allowed for other hosts than this machine. Defaults to false. */
  readonly allowPlainHttp?: boolean | undefined;
}

const MAX_LENGTH = 2_048;
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):(\/\/|:)/;
/** `user@host:path`, as in `git@github.com:team/plant.git`. */
const SCP_FORM = /^([A-Za-z0-9_][\w.+-]*)@([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:]+\]):(?!\/\/)([^\s]+)$/;
/** A name or address that no program can take for an option. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]*)|\[[0-9a-f:.]+\])$/i;
const USER = /^(?:[A-Za-z0-9_][\w.+%-]*)?$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
const DEFAULT_PORTS: Readonly<Record<GitScheme, string>> = { https: '443', http: '80', ssh: '22' };

/** parseGitUrl checks an address of a repository. It throws ProtocolRefused for one that may not be used. */
export function parseGitUrl(text: string, { allowPlainHttp = false }: GitUrlOptions = {}): GitUrl {
  if (text.length === 0 || text.length > MAX_LENGTH) throw refused('the address is empty or too long');
  // Only printable ASCII: no white space, control characters or names that other programs convert differently.
  if (!/^[\x21-\x7e]+$/.test(text) || text.startsWith('-')) {
    throw refused('the address begins with "-", or has white space or characters that are not ASCII');
  }
  const url = SCHEME.test(text) ? parseWithScheme(text) : parseScpForm(text);
  if (url.scheme === 'http' && !allowPlainHttp && !LOOPBACK.test(hostnameOf(url.host))) {
    throw new GitError('ProtocolRefused', `${url.host} would be used without encryption`, {
      host: url.host,
      remedy: 'use https, or set allowPlainHttp',
    });
  }
  return url;
}

function parseWithScheme(text: string): GitUrl {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() ?? '';
  if (!isScheme(scheme) || !text.slice(scheme.length).startsWith('://')) throw refused(`the scheme is not supported`);
  if (!URL.canParse(text)) throw refused('the address is not a URL');
  const { hostname, port, username, password, pathname } = new URL(text);
  if (password !== '') throw refused('the address contains a password: credentials belong into a Secret');
  return checked({ text, scheme, hostname, port, user: username, path: pathname.slice(1) });
}

function parseScpForm(text: string): GitUrl {
  const [, user = '', hostname = '', path = ''] = SCP_FORM.exec(text) ?? [];
  if (hostname === '') throw refused('the address has no scheme, and is not of the form user@host:path');
  return checked({ text, scheme: 'ssh', hostname, port: '', user, path });
}

function checked(parts: {
  readonly text: string;
  readonly scheme: GitScheme;
  readonly hostname: string;
  readonly port: string;
  readonly user: string;
  readonly path: string;
}): GitUrl {
  const { text, scheme, hostname, user, path } = parts;
  // OpenSSH and git take names that begin with "-" for options.
  if (!HOST.test(hostname) || !USER.test(user) || path === '' || path.startsWith('-')) {
    throw refused('the host, the user or the path of the address is not valid');
  }
  const name = hostname.toLowerCase();
  const port = parts.port === DEFAULT_PORTS[scheme] ? '' : parts.port;
  const host = port === '' ? name : `${name}:${port}`;
  return { text, scheme, origin: `${scheme}://${host}`, host, user };
}

function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '');
}

function isScheme(text: string): text is GitScheme {
  return text === 'https' || text === 'http' || text === 'ssh';
}

function refused(problem: string): GitError {
  return new GitError('ProtocolRefused', problem, {
    remedy: 'use https://host/path, ssh://user@host/path or user@host:path in git.repo',
  });
}
