import type { DataObject, DataObjectHandle, NewDataObject, Token, TokenInfo } from '../token/token.ts';
import { type Attribute, CKA, CKF, CKO_DATA, CKR, CKS, CKU, type Pkcs11Api } from './pkcs11-api.ts';
import { codeOf, pkcs11Error } from './pkcs11-error.ts';
import { tokenInfo } from './slots.ts';

const PAGE_SIZE = 64;

/**
 * Pkcs11Token is a session with a token behind a PKCS#11 module. A failure that a new session may remedy ends it, and is
 * reported as Unavailable.
 */
export class Pkcs11Token implements Token {
  readonly #api: Pkcs11Api;
  readonly #slot: Buffer;
  readonly #session: Buffer;

  constructor(api: Pkcs11Api, slot: Buffer) {
    this.#api = api;
    this.#slot = slot;
    this.#session = api.C_OpenSession(slot, CKF.SERIAL_SESSION | CKF.RW_SESSION);
  }

  info(): TokenInfo {
    return this.#do('read the description of the token', (api) => tokenInfo(api.C_GetTokenInfo(this.#slot)));
  }

  isLoggedIn(): boolean {
    return this.#do('read the state of the session', (api, session) => {
      const { state } = api.C_GetSessionInfo(session);
      return state === CKS.RW_USER || state === CKS.RO_USER;
    });
  }

  login(pin: Buffer): void {
    this.#do('log in to the token', (api, session) => {
      try {
        // pkcs11js takes texts only. A text cannot be overwritten; it lives until the next garbage collection.
        api.C_Login(session, CKU.USER, pin.toString());
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
    this.#do('change the PIN of the token', (api, session) =>
      api.C_SetPIN(session, oldPin.toString(), newPin.toString()),
    );
  }

  find(application: string): readonly DataObject[] {
    return this.#do('list the objects of the token', (api, session) => {
      const template = [...DATA, { type: CKA.APPLICATION, value: Buffer.from(application) }];
      return search(api, session, template).map((object) => describe(api, session, object));
    });
  }

  read(object: DataObjectHandle): Buffer {
    return this.#do('read an object of the token', (api, session) =>
      attribute(api, session, objectHandle(object), CKA.VALUE),
    );
  }

  create({ label, application, objectId, value }: NewDataObject): void {
    this.#do('create an object on the token', (api, session) => {
      api.C_CreateObject(session, [
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
    this.#do('remove an object of the token', (api, session) => api.C_DestroyObject(session, objectHandle(object)));
  }

  #do<T>(attempt: string, work: (api: Pkcs11Api, session: Buffer) => T): T {
    try {
      return work(this.#api, this.#session);
    } catch (cause) {
      const error = pkcs11Error(attempt, cause);
      if (error.problem === 'Unavailable') this.#close();
      throw error;
    }
  }

  #close(): void {
    try {
      this.#api.C_CloseSession(this.#session);
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
