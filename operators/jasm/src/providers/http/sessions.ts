import type { Clock } from '@bowline/machinery';
import { ProviderError } from '../provider-error.ts';
import type { HttpResponse } from './json-http.ts';

/** Session is a proof of our identity, issued by a store. */
export interface Session {
  readonly token: string;
  /** How long the store accepts it from now on. Undefined: until it is revoked. */
  readonly lifetimeMs: number | undefined;
}

/** SessionsOptions configures how to log in. */
export interface SessionsOptions {
  readonly provider: string;
  /** The store's name of the login operation, for messages and metrics. */
  readonly operation: string;
  readonly clock: Clock;
  /** startLogin logs in with a role: `''` is the configured one. */
  readonly startLogin: (role: string, signal: AbortSignal) => Promise<Session>;
}

interface HeldSession {
  readonly token: string;
  readonly startedAt: number;
  /** On the monotonic clock: from then on, a new session is started first. */
  readonly usableUntil: number;
}

/** A login may not take longer than a read. */
const LOGIN_LIMIT_MS = 30_000;

/** A session is not used in the last tenth of its lifetime, up to 5 minutes. */
const UNUSED_FRACTION = 0.1;
const MAX_UNUSED_MS = 300_000;

/** A refused session younger than this is not at fault: the store refuses us, not the session. */
const FRESH_MS = 60_000;

/** The maximum number of remembered roles; the least recently used is dropped first. */
const MAX_ROLES = 128;

/**
 * Sessions logs in once for all concurrent callers, remembers the session of each role, and starts a new one before it
 * expires.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #held = new Map<string, HeldSession>();
  readonly #pendingLogins = new Map<string, Promise<HeldSession>>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /**
   * use makes a call with the token of a valid session. If the store returns the status by which it refuses tokens, it
   * repeats the call once with the token of another session.
   */
  async use(
    { role, refusal, signal }: { readonly role: string; readonly refusal: number; readonly signal: AbortSignal },
    call: (token: string) => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    signal.throwIfAborted();
    const token = await this.#token(role, signal);
    const response = await call(token);
    if (response.status !== refusal || !this.#mayRetry(role, token)) return response;
    const newToken = await this.#token(role, signal);
    return newToken === token ? response : call(newToken);
  }

  async #token(role: string, signal: AbortSignal): Promise<string> {
    const held = this.#held.get(role);
    if (held && this.#options.clock.monotonic() < held.usableUntil) {
      // The map is ordered by use.
      this.#held.delete(role);
      this.#held.set(role, held);
      return held.token;
    }
    const { token } = await unlessAborted(this.#startLogin(role), signal);
    return token;
  }

  /** Reports whether another session may succeed after a token was refused. */
  #mayRetry(role: string, token: string): boolean {
    const held = this.#held.get(role);
    // Another caller has noticed it too, and there is a new session already.
    if (held?.token !== token) return true;
    if (this.#options.clock.monotonic() - held.startedAt < FRESH_MS) return false;
    this.#held.delete(role);
    return true;
  }

  #startLogin(role: string): Promise<HeldSession> {
    const pending = this.#pendingLogins.get(role);
    if (pending) return pending;
    const login = this.#login(role).finally(() => this.#pendingLogins.delete(role));
    // The caller may be gone by the time it fails.
    login.catch(() => {});
    this.#pendingLogins.set(role, login);
    return login;
  }

  async #login(role: string): Promise<HeldSession> {
    const { clock, startLogin, provider, operation } = this.#options;
    const timeout = new AbortController();
    const startedAt = clock.monotonic();
    using _limit = clock.setTimer(LOGIN_LIMIT_MS, () =>
      timeout.abort(
        new ProviderError(`no response to the login within ${LOGIN_LIMIT_MS / 1000} s; it is retried`, {
          kind: 'transient',
          provider,
          operation,
          code: 'Timeout',
        }),
      ),
    );
    const { token, lifetimeMs } = await startLogin(role, timeout.signal);
    const unused = Math.min((lifetimeMs ?? 0) * UNUSED_FRACTION, MAX_UNUSED_MS);
    const usableUntil = lifetimeMs === undefined ? Number.POSITIVE_INFINITY : startedAt + lifetimeMs - unused;
    const held = { token, startedAt, usableUntil };
    this.#held.delete(role);
    this.#held.set(role, held);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= MAX_ROLES) break;
      this.#held.delete(oldest);
    }
    return held;
  }
}

/** unlessAborted settles like the promise, or rejects with the signal's reason if the signal is aborted first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
