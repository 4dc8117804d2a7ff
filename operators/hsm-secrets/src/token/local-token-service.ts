import type { Clock } from '@bowline/machinery';
import type { PinAttemptStore } from './pin/pin-attempts.ts';
import { PinGuard } from './pin/pin-guard.ts';
import type { PinSource } from './pin/pin-source.ts';
import { SecretStore } from './secret-store.ts';
import type { Token, TokenInfo } from './token.ts';
import { TokenError } from './token-error.ts';
import type {
  MetadataInput,
  SecretData,
  SecretMetadata,
  SecretSummary,
  StoredSecret,
  TokenService,
  TokenStatus,
  WriteOptions,
} from './token-service.ts';

/** LocalTokenServiceOptions configures how a token is opened and where its PIN is. */
export interface LocalTokenServiceOptions {
  /** open chooses the token and starts a session. It throws a TokenError if there is none. */
  open(): Token;
  readonly pin: PinSource;
  readonly attempts: PinAttemptStore;
  readonly clock: Clock;
  /** Whether the token is part of a simulation. Defaults to false. */
  readonly isSimulated?: boolean | undefined;
}

/**
 * LocalTokenService is the TokenService of a token in the same process. It opens the token and logs in when necessary.
 * Calls to a token are synchronous, so each operation is finished before the next one starts.
 */
export class LocalTokenService implements TokenService {
  readonly #options: LocalTokenServiceOptions;
  readonly #guard: PinGuard;
  #token: Token | undefined;
  #info: TokenInfo | undefined;

  constructor(options: LocalTokenServiceOptions) {
    this.#options = options;
    this.#guard = new PinGuard(options.pin, options.attempts);
  }

  async status(signal?: AbortSignal): Promise<TokenStatus> {
    signal?.throwIfAborted();
    return this.#status(() => this.#login());
  }

  async retryPin(signal?: AbortSignal): Promise<TokenStatus> {
    signal?.throwIfAborted();
    // Not repeated if the session ends: the token may have counted the attempt.
    return this.#status(() => this.#onToken((token) => this.#guard.retry(token)));
  }

  async read(path: string, signal?: AbortSignal): Promise<StoredSecret> {
    return this.#onStore(signal, (store) => store.read(path));
  }

  async write(
    path: string,
    data: SecretData,
    metadata: MetadataInput,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<SecretSummary> {
    return this.#onStore(signal, (store) => store.write(path, data, metadata, options));
  }

  async remove(
    path: string,
    key: string | undefined,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<SecretSummary> {
    return this.#onStore(signal, (store) => store.remove(path, key, options));
  }

  async purge(path: string, version: number, signal?: AbortSignal): Promise<void> {
    this.#onStore(signal, (store) => store.purge(path, version));
  }

  async metadata(path: string, signal?: AbortSignal): Promise<SecretMetadata> {
    return this.#onStore(signal, (store) => store.metadata(path));
  }

  async list(prefix: string, signal?: AbortSignal): Promise<readonly SecretSummary[]> {
    return this.#onStore(signal, (store) => store.list(prefix));
  }

  /** changePin does not clear the new PIN: the caller may have to repeat the call. */
  async changePin(newPin: Buffer, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#login();
    this.#onToken((token) => this.#guard.changePin(token, newPin));
  }

  async provePin(nonce: Buffer, signal?: AbortSignal): Promise<Buffer> {
    signal?.throwIfAborted();
    return this.#guard.provePin(nonce);
  }

  #status(login: () => void): TokenStatus {
    const isSimulated = this.#options.isSimulated ?? false;
    try {
      login();
      return { token: this.#readInfo(), isLoggedIn: true, problem: undefined, isSimulated };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      const problem = { reason: error.problem, message: error.message };
      return { token: this.#knownInfo(), isLoggedIn: false, problem, isSimulated };
    }
  }

  #readInfo(): TokenInfo {
    this.#info = this.#onToken((token) => token.info());
    return this.#info;
  }

  /** #knownInfo returns the current description of an open token, and else the last one. */
  #knownInfo(): TokenInfo | undefined {
    try {
      return this.#token === undefined ? this.#info : this.#readInfo();
    } catch {
      return this.#info;
    }
  }

  #login(): void {
    this.#repeatOnce(() => this.#onToken((token) => this.#guard.login(token)));
  }

  #onStore<T>(signal: AbortSignal | undefined, work: (store: SecretStore) => T): T {
    signal?.throwIfAborted();
    let store: SecretStore | undefined;
    return this.#repeatOnce(
      () =>
        this.#onToken((token) => {
          this.#guard.login(token);
          store = new SecretStore(token, this.#options.clock);
          return work(store);
        }),
      () => store?.hasWritten !== true,
    );
  }

  /** #repeatOnce repeats work after the session has ended, for example because the device was plugged in again. */
  #repeatOnce<T>(work: () => T, isRepeatable = (): boolean => true): T {
    const hadSession = this.#token !== undefined;
    try {
      return work();
    } catch (error) {
      if (!hadSession || this.#token !== undefined || !isRepeatable()) throw error;
      return work();
    }
  }

  /** #onToken opens the token if necessary, and forgets it once its session has ended. */
  #onToken<T>(work: (token: Token) => T): T {
    try {
      this.#token ??= this.#options.open();
      return work(this.#token);
    } catch (error) {
      if (error instanceof TokenError && error.problem === 'Unavailable') this.#token = undefined;
      throw error;
    }
  }
}
