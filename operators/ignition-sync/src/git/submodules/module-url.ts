import { type GitUrl, type GitUrlOptions, parseGitUrl } from '../address/git-url.ts';

/** The scheme and the host, or the user and the host of `user@host:path`. */
const ROOT = /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/]*|[^/:]+@(?:\[[^\]]*\]|[^/:]+):)/;

/**
 * moduleUrl returns the address of a submodule. Its `url` may be relative to that of its parent, as git resolves it. Undefined if the
 * address is not valid, leaves the parent's server, or is for another origin or user: credentials are bound to those.
 */
export function moduleUrl(parent: GitUrl, url: string, options: GitUrlOptions = {}): GitUrl | undefined {
  const text = /^\.\.?\//.test(url) ? resolved(parent.text, url) : url;
  if (text === undefined) return undefined;
  try {
    const parsed = parseGitUrl(text, options);
    return parsed.origin === parent.origin && parsed.user === parent.user ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function resolved(parent: string, relative: string): string | undefined {
  const [root = ''] = ROOT.exec(parent) ?? [];
  const segments = parent.slice(root.length).split('/').filter(Boolean);
  const added = relative.split('/');
  for (let next = added[0]; next === '.' || next === '..'; next = added[0]) {
    added.shift();
    if (next === '..' && segments.pop() === undefined) return undefined;
  }
  const path = [...segments, ...added].filter(Boolean).join('/');
  const isUnsafe = path === '' || path.split('/').includes('..');
  return isUnsafe || root === '' ? undefined : `${root}${root.endsWith(':') ? '' : '/'}${path}`;
}
