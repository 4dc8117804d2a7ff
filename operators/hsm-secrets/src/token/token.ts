/** TokenFlags are the flags of a token that decide whether a PIN may be tried. */
export interface TokenFlags {
  /** Whether a user PIN was ever set. A token without one is blank. */
  readonly isUserPinInitialized: boolean;
  /** Whether a wrong PIN was entered since the last successful login. */
  readonly isPinCountLow: boolean;
  /** Whether one more wrong PIN locks the token. */
  readonly isPinFinalTry: boolean;
  readonly isPinLocked: boolean;
}

/** TokenInfo describes a token. */
export interface TokenInfo extends TokenFlags {
  readonly label: string;
  readonly serialNumber: string;
  readonly manufacturer: string;
  readonly model: string;
}

/** DataObject is a data object (CKO_DATA) on a token, without its value. */
export interface DataObject {
  /** Valid until the session ends. */
  readonly handle: DataObjectHandle;
  readonly label: string;
  readonly application: string;
  /** The DER encoded object identifier (CKA_OBJECT_ID). */
  readonly objectId: Buffer;
}

/** DataObjectHandle identifies a data object within a session. */
export type DataObjectHandle = { readonly dataObjectHandle?: never };

/** NewDataObject is a data object to create. */
export interface NewDataObject {
  readonly label: string;
  readonly application: string;
  readonly objectId: Buffer;
  readonly value: Buffer;
}

/**
 * Token is one token with an open session. Its methods are synchronous, like those of PKCS#11: a call that does not
 * return is ended from outside, with its process. They throw a TokenError.
 */
export interface Token {
  /** info reads the current description and flags. */
  info(): TokenInfo;
  isLoggedIn(): boolean;
  /** login opens the session for the user. A wrong PIN counts: decide with the flags of `info` before. */
  login(pin: Buffer): void;
  /** setPin replaces the PIN of the user, who must be logged in. */
  setPin(oldPin: Buffer, newPin: Buffer): void;
  /** find returns all private data objects of an application, in no particular order. */
  find(application: string): readonly DataObject[];
  read(handle: DataObjectHandle): Buffer;
  create(object: NewDataObject): void;
  destroy(handle: DataObjectHandle): void;
}
