import type { Clock } from '@bowline/machinery';
import { ProviderError } from '../provider-error.ts';
import type { HttpAnswer } from './json-http.ts';

/** Session is a proof of who we are that a store gave us. */
export interface Session {
  readonly token: string;
  /** How long the store accepts it from now on. Undefined: as long as nobody revokes it. */
  readonly lifetimeMs: number | undefined;
}

/** SessionsOptions says how sessions are begun. */
export interface SessionsOptions {
  readonly provider: string;
  /** The store's name of a login, for messages and metrics. */
  readonly operation: string;
  readonly clock: Clock;
  /** begin logs in as a role: `''` is the configured one. */
  readonly begin: (role: string, signal: AbortSignal) => Promise<Session>;
}

interface Held {
  readonly token: string;
  readonly begunAt: number;
  /** On the monotonic clock: from then on another one is begun first. */
  readonly goodUntil: number;
}

/** A login may not take longer than a read. */
const LOGIN_LIMIT_MS = 30_000;

/** A session is not used for the last tenth of its life, nor for the last 5 minutes of one that is long enough for that. */
const SHARE_UNUSED = 0.1;
const LONGEST_UNUSED_MS = 300_000;

/** A refused session that is younger than this is not at fault: the store then refuses us, not the session. */
const YOUNG_MS = 60_000;

/** So many roles are remembered; the one that was unused for the longest goes first. */
const MOST_ROLES = 128;

/**
 * Sessions logs in once for all who ask at the same time, remembers the session of each role, and begins another before it ends.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #held = new Map<string, Held>();
  readonly #beginning = new Map<string, Promise<Held>>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /**
   * use makes a call with the token of a session that is good now, and once more with that of another session if the store answers
   * with the status by which it refuses tokens.
   */
  async use(
    { role, refusal, signal }: { readonly role: string; readonly refusal: number; readonly signal: AbortSignal },
    call: (token: string) => Promise<HttpAnswer>,
  ): Promise<HttpAnswer> {
    signal.throwIfAborted();
    const token = await this.#token(role, signal);
    const answer = await call(token);
    if (answer.status !== refusal || !this.#isWorthAnother(role, token)) return answer;
    const another = await this.#token(role, signal);
    return another === token ? answer : call(another);
  }

  async #token(role: string, signal: AbortSignal): Promise<string> {
    const held = this.#held.get(role);
    if (held && this.#options.clock.monotonic() < held.goodUntil) {
      // The order of the map is that of use.
      this.#held.delete(role);
      this.#held.set(role, held);
      return held.token;
    }
    const { token } = await unlessAborted(this.#begin(role), signal);
    return token;
  }

  /** Whether another session may fare better than one whose token was refused. */
  #isWorthAnother(role: string, token: string): boolean {
    const held = this.#held.get(role);
    // Somebody else has noticed it too, and there is another by now.
    if (held?.token !== token) return true;
    if (this.#options.clock.monotonic() - held.begunAt < YOUNG_MS) return false;
    this.#held.delete(role);
    return true;
  }

  #begin(role: string): Promise<Held> {
    const under = this.#beginning.get(role);
    if (under) return under;
    const login = this.#login(role).finally(() => this.#beginning.delete(role));
    // Who asked may be gone by the time it fails.
    login.catch(() => {});
    this.#beginning.set(role, login);
    return login;
  }

  async #login(role: string): Promise<Held> {
    const { clock, begin, provider, operation } = this.#options;
    const late = new AbortController();
    const begunAt = clock.monotonic();
    using _limit = clock.setTimer(LOGIN_LIMIT_MS, () =>
      late.abort(
        new ProviderError(`the login took longer than ${LOGIN_LIMIT_MS / 1000} s; it is tried again`, {
          kind: 'transient',
          provider,
          operation,
          code: 'Timeout',
        }),
      ),
    );
    const { token, lifetimeMs } = await begin(role, late.signal);
    const unused = Math.min((lifetimeMs ?? 0) * SHARE_UNUSED, LONGEST_UNUSED_MS);
    const goodUntil = lifetimeMs === undefined ? Number.POSITIVE_INFINITY : begunAt + lifetimeMs - unused;
    const held = { token, begunAt, goodUntil };
    this.#held.delete(role);
    this.#held.set(role, held);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= MOST_ROLES) break;
      this.#held.delete(oldest);
    }
    return held;
  }
}

/** unlessAborted is the promise's outcome, or the signal's reason if that comes first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
