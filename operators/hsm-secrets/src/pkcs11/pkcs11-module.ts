import { blankTokenToProvision } from '../token/pin/blank-token.ts';
import type { Token } from '../token/token.ts';
import { matchingTokens, type TokenChoice, tokenNotFound } from './choose-token.ts';
import { CKF, CKR, type Pkcs11Api } from './pkcs11-api.ts';
import { codeOf, pkcs11Error } from './pkcs11-error.ts';
import { Pkcs11Token } from './pkcs11-token.ts';
import { type Provisioning, ProvisioningRefused, provisionToken } from './provision-token.ts';
import { type FoundToken, findTokens } from './slots.ts';

/** Pkcs11ModuleOptions configures a PKCS#11 module and the token to use. */
export interface Pkcs11ModuleOptions {
  /** load returns the module; see `loadPkcs11`. It is called until it succeeds. */
  readonly load: () => Pkcs11Api;
  readonly choice: TokenChoice;
  /** How a blank token is initialized. Defaults to never. */
  readonly provisioning?: Provisioning | undefined;
}

/** Pkcs11Module opens sessions with the chosen token of a PKCS#11 module. */
export class Pkcs11Module {
  readonly #options: Pkcs11ModuleOptions;
  #api: Pkcs11Api | undefined;
  #isInitialized = false;
  #token: Pkcs11Token | undefined;
  #refusal: ProvisioningRefused | undefined;

  constructor(options: Pkcs11ModuleOptions) {
    this.#options = options;
  }

  /** open chooses the token among those that are present now, and opens a session with it. It ends the earlier one. */
  open(): Token {
    this.#api ??= this.#options.load();
    this.#token?.close();
    this.#token = undefined;
    try {
      if (!this.#isInitialized) initialize(this.#api);
      this.#isInitialized = true;
      this.#token = new Pkcs11Token(this.#api, this.#choose(this.#api).slot);
      return this.#token;
    } catch (error) {
      this.#reset(this.#api);
      throw pkcs11Error('open the token', error);
    }
  }

  /** Some modules find tokens that were plugged in later, or recover from an error, only after an initialization. */
  #reset(api: Pkcs11Api): void {
    if (!this.#isInitialized) return;
    this.#isInitialized = false;
    try {
      api.C_Finalize();
    } catch {
      // The next initialization reports what is wrong.
    }
  }

  #choose(api: Pkcs11Api): FoundToken {
    const { choice, provisioning } = this.#options;
    const tokens = findTokens(api);
    const matches = matchingTokens(tokens, choice);
    const [match] = matches;
    if (match && matches.length === 1) return match;
    const blank = matches.length === 0 ? blankTokenToProvision(tokens, undefined) : undefined;
    if (!provisioning || !blank) throw tokenNotFound(matches.length, tokens, choice);
    // Once per process: each further attempt could lock the token.
    if (this.#refusal) throw this.#refusal;
    try {
      return provisionToken(api, blank, choice, provisioning);
    } catch (error) {
      if (error instanceof ProvisioningRefused) this.#refusal = error;
      throw error;
    }
  }
}

function initialize(api: Pkcs11Api): void {
  try {
    api.C_Initialize({ flags: CKF.OS_LOCKING_OK });
  } catch (error) {
    const code = codeOf(error);
    if (code === CKR.CRYPTOKI_ALREADY_INITIALIZED) return;
    // Modules may refuse to use the locks of the operating system; there is one thread anyway.
    if (code !== CKR.CANT_LOCK && code !== CKR.ARGUMENTS_BAD) throw error;
    api.C_Initialize();
  }
}
