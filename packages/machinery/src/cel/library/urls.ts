import { isRequestUri } from '../../formats/request-uri.ts';
import { quoteText } from '../../json/go-text.ts';
import { overload } from '../overloads.ts';
import { CelFailure, ListValue, MapValue, UrlValue } from '../values.ts';

function read(text: string): UrlValue {
  if (!isRequestUri(text))
    throw new CelFailure(
      `URL parse error during conversion from string: parse ${quoteText(text)}: invalid URI for request`,
    );
  const [withoutFragment = ''] = text.split('#', 1);
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(withoutFragment)?.[1] ?? '';
  const rest = scheme === '' ? withoutFragment : withoutFragment.slice(scheme.length + 1);
  const question = rest.indexOf('?');
  const beforeQuery = question < 0 ? rest : rest.slice(0, question);
  const query = question < 0 ? '' : rest.slice(question + 1);
  const hasAuthority = scheme !== '' && beforeQuery.startsWith('//');
  const slash = hasAuthority ? beforeQuery.indexOf('/', 2) : 0;
  const authority = hasAuthority ? beforeQuery.slice(2, slash < 0 ? undefined : slash) : '';
  const path = hasAuthority
    ? slash < 0
      ? ''
      : beforeQuery.slice(slash)
    : beforeQuery.startsWith('/')
      ? beforeQuery
      : '';
  return new UrlValue(text, {
    scheme: scheme.toLowerCase(),
    host: authority.slice(authority.lastIndexOf('@') + 1),
    path,
    query,
  });
}

function hostname({ host }: UrlValue): string {
  const bracketed = /^\[(.*)\](?::\d*)?$/.exec(host);
  if (bracketed !== null) return bracketed[1] ?? '';
  const colon = host.lastIndexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}

function port({ host }: UrlValue): string {
  return /:(\d*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? '';
}

function query({ query: text }: UrlValue): MapValue {
  const values = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(text)) {
    const list = values.get(key);
    if (list === undefined) values.set(key, [value]);
    else list.push(value);
  }
  return new MapValue([...values].map(([key, list]) => [key, new ListValue(list)] as const));
}

/** urls holds the functions on URLs. */
export const urls = [
  overload('url(string): url', read),
  overload('isURL(string): bool', isRequestUri),
  overload('url.getScheme(): string', ({ scheme }: UrlValue) => scheme),
  overload('url.getHost(): string', ({ host }: UrlValue) => host),
  overload('url.getHostname(): string', hostname),
  overload('url.getPort(): string', port),
  overload('url.getEscapedPath(): string', ({ path }: UrlValue) => escapedPath(path)),
  overload('url.getQuery(): map<string, list<string>>', query),
];

/** Existing escapes are kept: encodeURI would escape their percent sign again. */
function escapedPath(path: string): string {
  try {
    return encodeURI(decodeURI(path));
  } catch {
    throw new CelFailure(`the path ${quoteText(path)} is not valid UTF-8`);
  }
}
