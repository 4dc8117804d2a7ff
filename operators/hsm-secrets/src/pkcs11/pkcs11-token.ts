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
    return this.#do('read the state of the session', isUser);
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
      const objects = search(api, session, template).map((object) => describe(api, session, object));
      // Modules may find nothing on a token that was removed, or after a logout. That must not look like an empty token.
      if (!isUser(api, session)) throw pkcs11Error('list the objects of the token', { code: CKR.USER_NOT_LOGGED_IN });
      api.C_GetTokenInfo(this.#slot);
      return objects;
    });
  }

  read(object: DataObjectHandle): Buffer {
    return this.#do('read an object of the token', (api, session) => {
      const [value = NOTHING] = attributes(api, session, objectHandle(object), [CKA.VALUE]);
      return value;
    });
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

  /** close ends the session. */
  close(): void {
    try {
      this.#api.C_CloseSession(this.#session);
    } catch {
      // It ended before.
    }
  }

  #do<T>(attempt: string, work: (api: Pkcs11Api, session: Buffer) => T): T {
    try {
      return work(this.#api, this.#session);
    } catch (cause) {
      const error = pkcs11Error(attempt, cause);
      if (error.problem === 'Unavailable') this.close();
      throw error;
    }
  }
}

/** What all our objects are: data that stays on the token, and is visible only after a login. */
const DATA: readonly Attribute[] = [
  { type: CKA.CLASS, value: CKO_DATA },
  { type: CKA.TOKEN, value: true },
  { type: CKA.PRIVATE, value: true },
];

function isUser(api: Pkcs11Api, session: Buffer): boolean {
  const { state } = api.C_GetSessionInfo(session);
  return state === CKS.RW_USER || state === CKS.RO_USER;
}

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
  const [label, application, objectId] = attributes(api, session, object, [CKA.LABEL, CKA.APPLICATION, CKA.OBJECT_ID]);
  return {
    // Opaque to the users of a token.
    handle: object as DataObjectHandle,
    label: String(label ?? ''),
    application: String(application ?? ''),
    objectId: objectId ?? NOTHING,
  };
}

const NOTHING = Buffer.alloc(0);

/** attributes reads all attributes at once; one that the object does not have, as with other programs, is empty. */
function attributes(api: Pkcs11Api, session: Buffer, object: Buffer, types: readonly number[]): readonly Buffer[] {
  const template = types.map((type) => ({ type }));
  try {
    return api.C_GetAttributeValue(session, object, template).map(({ value }) => value);
  } catch (error) {
    if (codeOf(error) !== CKR.ATTRIBUTE_TYPE_INVALID) throw error;
    if (types.length === 1) return [NOTHING];
    return types.flatMap((type) => attributes(api, session, object, [type]));
  }
}

function objectHandle(object: DataObjectHandle): Buffer {
  // `describe` made it.
  return object as unknown as Buffer;
}
