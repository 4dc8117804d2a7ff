/**
 * isRequestUri reports whether Go's `url.ParseRequestURI` accepts a text: an absolute URI, including an opaque one such
 * as `mailto:a@b`, or an absolute path. `#` is an ordinary character.
 */
export function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) return false;
  if (text === '*') return true;
  const scheme = schemeOf(text);
  if (scheme === undefined) return false;
  const rest = scheme === '' ? text : text.slice(scheme.length + 1);
  const question = rest.indexOf('?');
  const beforeQuery = question < 0 ? rest : rest.slice(0, question);
  // An opaque URI is not checked any further.
  if (!beforeQuery.startsWith('/')) return scheme !== '';
  if (scheme === '' || !beforeQuery.startsWith('//')) return hasValidEscapes(beforeQuery);
  const slash = beforeQuery.indexOf('/', 2);
  const authority = slash < 0 ? beforeQuery.slice(2) : beforeQuery.slice(2, slash);
  const path = slash < 0 ? '' : beforeQuery.slice(slash);
  return isAuthority(authority) && hasValidEscapes(path);
}

/** Returns the scheme; empty if there is none, undefined if it is missing before a colon. */
function schemeOf(text: string): string | undefined {
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (/[a-zA-Z]/.test(character)) continue;
    if (/[0-9+.-]/.test(character)) {
      if (index === 0) return '';
      continue;
    }
    if (character !== ':') return '';
    return index === 0 ? undefined : text.slice(0, index);
  }
  return '';
}

function hasValidEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const user = authority.slice(0, at);
    if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || !hasValidEscapes(user)) return false;
  }
  return isHost(authority.slice(at + 1));
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0 || !isPort(host.slice(end + 1))) return false;
    const zone = host.indexOf('%25');
    const address = zone >= 0 && zone < end ? host.slice(0, zone) : host.slice(0, end);
    return isEncodedHost(address) && (zone < 0 || hasValidEscapes(host.slice(zone, end)));
  }
  const colon = host.lastIndexOf(':');
  if (colon >= 0 && !isPort(host.slice(colon))) return false;
  return isEncodedHost(host);
}

function isPort(text: string): boolean {
  return text === '' || /^:[0-9]*$/.test(text);
}

/**
 * Hosts may contain any byte beyond ASCII and a few punctuation characters unescaped; of all other bytes, only those
 * beyond ASCII may be escaped.
 */
function isEncodedHost(host: string): boolean {
  if (!hasValidEscapes(host)) return false;
  for (const [escaped] of host.matchAll(/%[0-9a-fA-F]{2}/g)) {
    if (Number.parseInt(escaped.slice(1), 16) < 0x80 && escaped !== '%25') return false;
  }
  return /^(?:[\u0080-\uffff]|[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"]|%[0-9a-fA-F]{2})*$/.test(host);
}
