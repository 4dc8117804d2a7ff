import type { ServerAccess } from '../../git/access/server-request.ts';
import type { GitUrl } from '../../git/address/git-url.ts';
import { GitError } from '../../git/errors/git-error.ts';
import type { Forge, ForgeKind } from './forge.ts';
import { giteaForge } from './gitea-forge.ts';
import { githubForge } from './github-forge.ts';
import { gitlabForge } from './gitlab-forge.ts';

/** ForgeOfOptions describes where pull requests are opened. */
export interface ForgeOfOptions extends ServerAccess {
  readonly url: GitUrl;
  /** Defaults to what the host is known for. */
  readonly kind?: ForgeKind | undefined;
  /** The token of git.auth. Undefined: the IgnitionSync authenticates in another way. */
  readonly token: string | undefined;
  /** The address of the API of GitHub. Defaults to that of the host. */
  readonly apiBaseUrl?: string | undefined;
}

const FORGES = { github: githubForge, gitlab: gitlabForge, gitea: giteaForge } as const;
const API_PATHS: Readonly<Record<ForgeKind, string>> = { github: '/api/v3', gitlab: '/api/v4', gitea: '/api/v1' };
const KNOWN: readonly (readonly [RegExp, ForgeKind])[] = [
  [/(?:^|\.)github(?:\.|$)/, 'github'],
  [/(?:^|\.)gitlab(?:\.|$)/, 'gitlab'],
  [/(?:^|\.)(?:gitea|forgejo)(?:\.|$)|^codeberg\.org$/, 'gitea'],
];

/** forgeKindOf returns the kind of forge that a host is known for, or undefined. */
export function forgeKindOf(host: string): ForgeKind | undefined {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return KNOWN.find(([pattern]) => pattern.test(name))?.[1];
}

/** forgeOf returns the forge of a repository. It throws PushRefused if no pull request can be opened there. */
export function forgeOf({ url, kind, token, apiBaseUrl, ...access }: ForgeOfOptions): Forge {
  const { host } = url;
  const used = kind ?? forgeKindOf(host);
  if (used === undefined)
    throw refused(host, 'is no known forge', 'set bidirectional.forge to github, gitlab or gitea');
  if (token === undefined)
    throw refused(host, 'has no token for pull requests', 'use git.auth.token or githubApp, or set createPR to false');
  const project = projectOf(url);
  if (project === undefined) throw refused(host, 'has no such project', 'correct the path in git.repo');
  const base = apiBaseUrl ?? (host === 'github.com' ? 'https://api.github.com' : apiBase(url, used));
  return FORGES[used]({ ...access, apiBaseUrl: base.replace(/\/+$/, ''), project, token: token.trim() });
}

/** The API has the origin of the repository, so that the token reaches no other server. */
function apiBase({ origin }: GitUrl, kind: ForgeKind): string {
  return `${origin}${API_PATHS[kind]}`;
}

function projectOf({ text }: GitUrl): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const path = new URL(text).pathname.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  return path.includes('/') ? decodeURIComponent(path) : undefined;
}

function refused(host: string, problem: string, remedy: string): GitError {
  return new GitError('PushRefused', `${host} ${problem}`, { host, remedy });
}
