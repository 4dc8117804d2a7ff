import { createHash } from 'node:crypto';
import { BoundedMap, type Clock, systemClock } from '@bowline/machinery';
import { GitError } from '../errors/git-error.ts';
import { appAssertion } from './app-assertion.ts';
import type { GitProxy } from './git-credentials.ts';
import { sendServerRequest } from './server-request.ts';

/** GitHubApp is an installed GitHub App. */
export interface GitHubApp {
  readonly appId: number;
  readonly installationId: number;
  /** PEM, PKCS #1 or PKCS #8. */
  readonly privateKey: string;
  /** The address of the API. Defaults to https://api.github.com. */
  readonly apiBaseUrl?: string | undefined;
  /** Certificate authorities (PEM) to trust instead of the system's. Defaults to the system's. */
  readonly ca?: string | undefined;
}

/** AppToken is an installation token: the password of HTTP basic authentication. */
export interface AppToken {
  readonly token: string;
  /** In milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** AppTokensOptions configures the exchange of tokens. */
export interface AppTokensOptions {
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to none. */
  readonly proxy?: GitProxy | undefined;
}

const RENEW_BEFORE_MS = 300_000;
const MAX_BODY_BYTES = 65_536;
const MAX_INSTALLATIONS = 1_024;

/** AppTokens gets installation tokens, once for all concurrent callers, and keeps each until 5 minutes before it expires. */
export class AppTokens {
  readonly #clock: Clock;
  readonly #proxy: GitProxy | undefined;
  readonly #held = new BoundedMap<string, AppToken>({ maxEntries: MAX_INSTALLATIONS });
  readonly #pending = new Map<string, Promise<AppToken>>();

  constructor(options: AppTokensOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#proxy = options.proxy;
  }

  /** token returns a token that is valid for at least 5 minutes. */
  async token(app: GitHubApp): Promise<AppToken> {
    const key = identityOf(app);
    const held = this.#held.get(key);
    if (held && held.expiresAtMs - this.#clock.now() > RENEW_BEFORE_MS) return held;
    const pending = this.#pending.get(key);
    if (pending) return await pending;
    const exchange = this.#exchange(app).finally(() => this.#pending.delete(key));
    this.#pending.set(key, exchange);
    const token = await exchange;
    this.#held.set(key, token);
    return token;
  }

  async #exchange(app: GitHubApp): Promise<AppToken> {
    const url = tokenUrl(app);
    const authorization = `Bearer ${appAssertion(app, this.#clock.now())}`;
    const { status, text } = await sendServerRequest(
      {
        method: 'POST',
        url,
        headers: { accept: 'application/vnd.github+json', authorization },
        maxBytes: MAX_BODY_BYTES,
        remedy: 'check that git.auth.githubApp.apiBaseURL is the API of GitHub',
      },
      { ca: app.ca, proxy: this.#proxy, clock: this.#clock },
    );
    if (status !== 201) throw statusError(status, url.host);
    return parseToken(text, url.host);
  }
}

function identityOf({ appId, installationId, apiBaseUrl, privateKey }: GitHubApp): string {
  // A replaced key must not be served by the token of the old one: it may have been revoked for a reason.
  const key = createHash('sha256').update(privateKey).digest('base64');
  return JSON.stringify([appId, installationId, apiBaseUrl, key]);
}

function tokenUrl({ apiBaseUrl = 'https://api.github.com', installationId }: GitHubApp): URL {
  const base = apiBaseUrl.replace(/\/+$/, '');
  if (URL.canParse(base) && /^https:\/\/|^http:\/\/127\.0\.0\.1[:/]/.test(base)) {
    return new URL(`${base}/app/installations/${installationId}/access_tokens`);
  }
  throw new GitError('ProtocolRefused', 'the address of the GitHub API does not use https', {
    remedy: 'correct git.auth.githubApp.apiBaseURL',
  });
}

function parseToken(text: string, host: string): AppToken {
  try {
    const { token, expires_at: expiresAt } = JSON.parse(text) as {
      readonly token?: unknown;
      readonly expires_at?: unknown;
    };
    const expiresAtMs = Date.parse(String(expiresAt));
    if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) && expiresAtMs > 0) return { token, expiresAtMs };
  } catch {
    // Described below; the text may contain a token.
  }
  throw new GitError('GitFailed', `${host} did not return a token`, {
    host,
    remedy: 'check that git.auth.githubApp.apiBaseURL is the API of GitHub',
  });
}

function statusError(status: number, host: string): GitError {
  if (status >= 300 && status < 400) {
    return new GitError('Redirected', `${host} redirects to another address`, {
      host,
      remedy: 'set git.auth.githubApp.apiBaseURL to the final address',
    });
  }
  if (status === 401 || status === 403 || status === 404) {
    return new GitError('AuthenticationFailed', `${host} refused the GitHub App with status ${status}`, {
      host,
      remedy: 'check appId, installationId and the private key of git.auth.githubApp',
    });
  }
  return new GitError('HostUnreachable', `${host} issued no token (status ${status})`, {
    host,
    remedy: 'it is retried',
  });
}
