import { blankTokenToProvision } from '../token/pin/blank-token.ts';
import type { Token } from '../token/token.ts';
import { matchingTokens, type TokenChoice, tokenNotFound } from './choose-token.ts';
import type { Pkcs11Api } from './pkcs11-api.ts';
import { pkcs11Error } from './pkcs11-error.ts';
import { Pkcs11Token } from './pkcs11-token.ts';
import { type Provisioning, ProvisioningRefused, provisionToken } from './provision-token.ts';
import { type FoundToken, findTokens } from './slots.ts';

/** Pkcs11ModuleOptions configures a PKCS#11 module and the token to use. */
export interface Pkcs11ModuleOptions {
  /** load returns the initialized module; see `loadPkcs11`. It is called until it succeeds. */
  readonly load: () => Pkcs11Api;
  readonly choice: TokenChoice;
  /** How a blank token is initialized. Defaults to never. */
  readonly provisioning?: Provisioning | undefined;
}

/** Pkcs11Module opens sessions with the chosen token of a PKCS#11 module. */
export class Pkcs11Module {
  readonly #options: Pkcs11ModuleOptions;
  #api: Pkcs11Api | undefined;
  #refusal: ProvisioningRefused | undefined;

  constructor(options: Pkcs11ModuleOptions) {
    this.#options = options;
  }

  /** open chooses the token among those that are present now, and opens a session with it. */
  open(): Token {
    this.#api ??= this.#options.load();
    try {
      return new Pkcs11Token(this.#api, this.#choose(this.#api).slot);
    } catch (error) {
      throw pkcs11Error('open the token', error);
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
