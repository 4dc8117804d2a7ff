// The part of pkcs11js that is used, declared here because the package is optional: its types may be missing.

/** Attribute is an attribute of an object: its type, and its value unless it is to be read. */
export interface Attribute {
  readonly type: number;
  readonly value?: number | boolean | string | Buffer;
}

/** Pkcs11TokenInfo is what C_GetTokenInfo returns. Texts are padded. */
export interface Pkcs11TokenInfo {
  readonly label: string;
  readonly serialNumber: string;
  readonly manufacturerID: string;
  readonly model: string;
  readonly flags: number;
}

/** Pkcs11Api is a loaded PKCS#11 module. Its methods are synchronous and throw errors with the code of the module. */
export interface Pkcs11Api {
  load(path: string): void;
  C_Initialize(options?: { readonly flags: number }): void;
  C_Finalize(): void;
  C_GetSlotList(tokenPresent: boolean): readonly Buffer[];
  C_GetTokenInfo(slot: Buffer): Pkcs11TokenInfo;
  C_InitToken(slot: Buffer, soPin: string, label: string): unknown;
  C_InitPIN(session: Buffer, pin: string): void;
  C_SetPIN(session: Buffer, oldPin: string, newPin: string): void;
  C_OpenSession(slot: Buffer, flags: number): Buffer;
  C_CloseSession(session: Buffer): void;
  C_GetSessionInfo(session: Buffer): { readonly state: number };
  C_Login(session: Buffer, userType: number, pin: string): void;
  C_Logout(session: Buffer): void;
  C_CreateObject(session: Buffer, template: readonly Attribute[]): Buffer;
  C_DestroyObject(session: Buffer, object: Buffer): void;
  C_FindObjectsInit(session: Buffer, template: readonly Attribute[]): void;
  C_FindObjects(session: Buffer, max: number): readonly Buffer[];
  C_FindObjectsFinal(session: Buffer): void;
  C_GetAttributeValue(
    session: Buffer,
    object: Buffer,
    template: readonly Attribute[],
  ): readonly { readonly type: number; readonly value: Buffer }[];
}

/** Pkcs11Package is what the package pkcs11js exports. */
export interface Pkcs11Package {
  readonly PKCS11: new () => Pkcs11Api;
}

// Constants of the standard (PKCS #11 2.40), named as there without the first letters.

/** CKF are flags of tokens, sessions and the initialization. */
export const CKF = {
  OS_LOCKING_OK: 0x2,
  RW_SESSION: 0x2,
  SERIAL_SESSION: 0x4,
  USER_PIN_INITIALIZED: 0x8,
  TOKEN_INITIALIZED: 0x400,
  USER_PIN_COUNT_LOW: 0x10000,
  USER_PIN_FINAL_TRY: 0x20000,
  USER_PIN_LOCKED: 0x40000,
  SO_PIN_COUNT_LOW: 0x100000,
  SO_PIN_FINAL_TRY: 0x200000,
  SO_PIN_LOCKED: 0x400000,
} as const;

/** CKA are types of attributes. */
export const CKA = {
  CLASS: 0x0,
  TOKEN: 0x1,
  PRIVATE: 0x2,
  LABEL: 0x3,
  APPLICATION: 0x10,
  VALUE: 0x11,
  OBJECT_ID: 0x12,
  MODIFIABLE: 0x170,
} as const;

/** CKO_DATA is the class of data objects. */
export const CKO_DATA = 0x0;

/** CKU are the types of users. */
export const CKU = { SO: 0, USER: 1 } as const;

/** CKS are the states of a session in which the user is logged in. */
export const CKS = { RO_USER: 1, RW_USER: 3 } as const;

/** CKR are return values of functions. */
export const CKR = {
  HOST_MEMORY: 0x2,
  SLOT_ID_INVALID: 0x3,
  GENERAL_ERROR: 0x5,
  FUNCTION_FAILED: 0x6,
  ARGUMENTS_BAD: 0x7,
  CANT_LOCK: 0xa,
  ATTRIBUTE_TYPE_INVALID: 0x12,
  ATTRIBUTE_VALUE_INVALID: 0x13,
  DATA_INVALID: 0x20,
  DATA_LEN_RANGE: 0x21,
  DEVICE_ERROR: 0x30,
  DEVICE_MEMORY: 0x31,
  DEVICE_REMOVED: 0x32,
  OBJECT_HANDLE_INVALID: 0x82,
  OPERATION_ACTIVE: 0x90,
  PIN_INCORRECT: 0xa0,
  PIN_INVALID: 0xa1,
  PIN_LEN_RANGE: 0xa2,
  PIN_EXPIRED: 0xa3,
  PIN_LOCKED: 0xa4,
  SESSION_CLOSED: 0xb0,
  SESSION_HANDLE_INVALID: 0xb3,
  TEMPLATE_INCOMPLETE: 0xd0,
  TEMPLATE_INCONSISTENT: 0xd1,
  TOKEN_NOT_PRESENT: 0xe0,
  TOKEN_NOT_RECOGNIZED: 0xe1,
  TOKEN_WRITE_PROTECTED: 0xe2,
  USER_ALREADY_LOGGED_IN: 0x100,
  USER_NOT_LOGGED_IN: 0x101,
  USER_PIN_NOT_INITIALIZED: 0x102,
  CRYPTOKI_NOT_INITIALIZED: 0x190,
  CRYPTOKI_ALREADY_INITIALIZED: 0x191,
} as const;
