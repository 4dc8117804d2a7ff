import type { DataObject, DataObjectHandle, NewDataObject, Token, TokenInfo } from '../token/token.ts';
import { blankTokens, matchingTokens, type TokenChoice, tokenNotFound } from './choose-token.ts';
import { type Attribute, CKA, CKF, CKO_DATA, CKR, CKS, CKU, type Pkcs11Api } from './pkcs11-api.ts';
import { codeOf, endsSession, pkcs11Error } from './pkcs11-error.ts';
import { type Provisioning, ProvisioningRefused, provisionToken } from './provision-token.ts';
import { type FoundToken, findTokens, tokenInfo } from './slots.ts';

/** Pkcs11TokenOptions configures a token behind a PKCS#11 module. */
export interface Pkcs11TokenOptions {
  /** load returns the initialized module. It is called until it succeeds. */
  readonly load: () => Pkcs11Api;
  readonly choice: TokenChoice;
  /** How a blank token is initialized. Defaults to never. */
  readonly provisioning?: Provisioning | undefined;
}

interface Session {
  readonly slot: Buffer;
  readonly handle: Buffer;
}

const PAGE_SIZE = 64;

/**
 * Pkcs11Token is a token behind a PKCS#11 module. The token is chosen and a session is opened when they are needed, and
 * again after an error that ends the session.
 */
export class Pkcs11Token implements Token {
  readonly #options: Pkcs11TokenOptions;
  #api: Pkcs11Api | undefined;
  #session: Session | undefined;
  #refusal: ProvisioningRefused | undefined;

  constructor(options: Pkcs11TokenOptions) {
    this.#options = options;
  }

  info(): TokenInfo {
    return this.#do('read the description of the token', (api, { slot }) => tokenInfo(api.C_GetTokenInfo(slot)));
  }

  isLoggedIn(): boolean {
    if (!this.#api || !this.#session) return false;
    try {
      const { state } = this.#api.C_GetSessionInfo(this.#session.handle);
      return state === CKS.RW_USER || state === CKS.RO_USER;
    } catch {
      // Whatever is wrong, a new session is the remedy.
      this.#endSession();
      return false;
    }
  }

  login(pin: Buffer): void {
    this.#do('log in to the token', (api, { handle }) => {
      try {
        // pkcs11js takes texts only. A text cannot be overwritten; it lives until the next garbage collection.
        api.C_Login(handle, CKU.USER, pin.toString());
      } catch (error) {
        const code = codeOf(error);
        if (code === CKR.USER_ALREADY_LOGGED_IN) return;
        // A PIN that can be none of this token's was refused too.
        if (code === CKR.PIN_INVALID || code === CKR.PIN_LEN_RANGE) {
          throw pkcs11Error('log in to the token', { code: CKR.PIN_INCORRECT });
        }
        throw error;
      }
    });
  }

  setPin(oldPin: Buffer, newPin: Buffer): void {
    this.#do('change the PIN of the token', (api, { handle }) =>
      api.C_SetPIN(handle, oldPin.toString(), newPin.toString()),
    );
  }

  find(application: string): readonly DataObject[] {
    return this.#do('list the objects of the token', (api, { handle }) => {
      const template = [...DATA, { type: CKA.APPLICATION, value: Buffer.from(application) }];
      return search(api, handle, template).map((object) => describe(api, handle, object));
    });
  }

  read(object: DataObjectHandle): Buffer {
    return this.#do('read an object of the token', (api, { handle }) =>
      attribute(api, handle, objectHandle(object), CKA.VALUE),
    );
  }

  create({ label, application, objectId, value }: NewDataObject): void {
    this.#do('create an object on the token', (api, { handle }) => {
      api.C_CreateObject(handle, [
        ...DATA,
        { type: CKA.MODIFIABLE, value: true },
        { type: CKA.LABEL, value: Buffer.from(label) },
        { type: CKA.APPLICATION, value: Buffer.from(application) },
        { type: CKA.OBJECT_ID, value: objectId },
        { type: CKA.VALUE, value },
      ]);
    });
  }

  destroy(object: DataObjectHandle): void {
    this.#do('remove an object of the token', (api, { handle }) => api.C_DestroyObject(handle, objectHandle(object)));
  }

  #do<T>(attempt: string, work: (api: Pkcs11Api, session: Session) => T): T {
    try {
      this.#api ??= this.#options.load();
      this.#session ??= this.#open(this.#api);
      return work(this.#api, this.#session);
    } catch (error) {
      if (endsSession(error)) this.#endSession();
      if (error instanceof ProvisioningRefused) this.#refusal = error;
      throw pkcs11Error(attempt, error);
    }
  }

  #open(api: Pkcs11Api): Session {
    const { slot } = this.#choose(api);
    return { slot, handle: api.C_OpenSession(slot, CKF.SERIAL_SESSION | CKF.RW_SESSION) };
  }

  #choose(api: Pkcs11Api): FoundToken {
    const { choice, provisioning } = this.#options;
    const tokens = findTokens(api);
    const matches = matchingTokens(tokens, choice);
    const [match] = matches;
    if (match && matches.length === 1) return match;
    const blank = blankTokens(tokens);
    if (provisioning && matches.length === 0 && blank[0] && blank.length === 1) {
      // Once per process: each further attempt could lock the token.
      if (this.#refusal) throw this.#refusal;
      return provisionToken(api, blank[0], choice, provisioning);
    }
    throw tokenNotFound(matches.length, tokens, choice);
  }

  #endSession(): void {
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    try {
      this.#api?.C_CloseSession(session.handle);
    } catch {
      // It ended before.
    }
  }
}

/** What all our objects are: data that stays on the token, and is visible only after a login. */
const DATA: readonly Attribute[] = [
  { type: CKA.CLASS, value: CKO_DATA },
  { type: CKA.TOKEN, value: true },
  { type: CKA.PRIVATE, value: true },
];

/** search reads to the end: a module returns no more objects than requested, and keeps the search open. */
function search(api: Pkcs11Api, session: Buffer, template: readonly Attribute[]): readonly Buffer[] {
  beginSearch(api, session, template);
  const found: Buffer[] = [];
  try {
    for (;;) {
      const page = api.C_FindObjects(session, PAGE_SIZE);
      if (page.length === 0) return found;
      found.push(...page);
    }
  } finally {
    api.C_FindObjectsFinal(session);
  }
}

function beginSearch(api: Pkcs11Api, session: Buffer, template: readonly Attribute[]): void {
  try {
    api.C_FindObjectsInit(session, template);
  } catch (error) {
    if (codeOf(error) !== CKR.OPERATION_ACTIVE) throw error;
    api.C_FindObjectsFinal(session);
    api.C_FindObjectsInit(session, template);
  }
}

function describe(api: Pkcs11Api, session: Buffer, object: Buffer): DataObject {
  return {
    // Opaque to the users of a token.
    handle: object as DataObjectHandle as Buffer & DataObjectHandle,
    label: attribute(api, session, object, CKA.LABEL).toString(),
    application: attribute(api, session, object, CKA.APPLICATION).toString(),
    objectId: attribute(api, session, object, CKA.OBJECT_ID),
  };
}

/** attribute reads one attribute; empty if the object does not have it, as with objects of other programs. */
function attribute(api: Pkcs11Api, session: Buffer, object: Buffer, type: number): Buffer {
  try {
    return api.C_GetAttributeValue(session, object, [{ type }])[0]?.value ?? Buffer.alloc(0);
  } catch (error) {
    if (codeOf(error) === CKR.ATTRIBUTE_TYPE_INVALID) return Buffer.alloc(0);
    throw error;
  }
}

function objectHandle(object: DataObjectHandle): Buffer {
  // `describe` made it.
  return object as unknown as Buffer;
}
